//! Reads a text file below a directory for the host itself, limited to what a call with the same handle could read.

use super::{Directory, NarrowError, steps_of};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};

impl Directory {
    /// Returns the normalized path of a file that a call with this handle could reach. The file need not exist.
    ///
    /// # Errors
    /// The path is not a plain relative path, it leads out of the directory, or a mask hides it.
    pub fn file_path(&self, path: &str) -> Result<String, NarrowError> {
        let steps = steps_of(path)?;
        let within = self.narrowing.as_ref().is_none_or(|narrowing| steps.starts_with(narrowing.steps()));
        let path = steps.join("/");
        let hidden = self.masks.as_ref().is_some_and(|masks| masks.walk(&path).is_hidden());
        if steps.is_empty() || !within || hidden { Err(NarrowError::Outside) } else { Ok(path) }
    }

    /// Returns the text of the file at a path from [`Directory::file_path`], or `None` if the file does not exist.
    /// Follows no link and does not block.
    ///
    /// # Errors
    /// It is not a regular file, it is longer than `bytes_max`, it is not UTF-8, or the system refuses.
    pub fn read_text(&self, path: &str, bytes_max: u64) -> io::Result<Option<String>> {
        // Non-blocking, because opening a pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let file = match openat2(&*self.dir.dir, path, flags, Mode::empty(), within) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut text = String::new();
        let read = file.take(bytes_max.saturating_add(1)).read_to_string(&mut text)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(text))
    }
}
