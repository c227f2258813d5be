//! The single steps of a change to several files. Each either has its whole effect or can be undone by its caller.

use std::fs::{self, OpenOptions};
use std::io;

use super::Workspace;
use crate::place::Place;

/// Steps that change files. The tests of a change implement it with a disk that fails.
pub(crate) trait Disk {
    /// Creates a directory whose parent exists. Returns whether it was missing.
    fn create_directory(&self, place: &Place) -> io::Result<bool>;

    /// Writes a temporary file next to a place.
    fn stage(&self, beside: &Place, content: &[u8]) -> io::Result<Place>;

    /// Fails if the content of a file cannot be replaced.
    fn check_writable(&self, place: &Place) -> io::Result<()>;

    /// Renames a file to a place that does not exist.
    fn rename(&self, from: &Place, to: &Place) -> io::Result<()>;

    /// Renames a file to the place of a temporary file, which is lost.
    fn rename_over(&self, from: &Place, temporary: &Place) -> io::Result<()>;

    /// Replaces the content of a file in place. On failure, the content may be a part of each.
    fn overwrite(&self, place: &Place, content: &[u8]) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, place: &Place) -> io::Result<()>;

    /// Removes an empty directory.
    fn remove_directory(&self, place: &Place) -> io::Result<()>;
}

impl Disk for Workspace {
    fn create_directory(&self, place: &Place) -> io::Result<bool> {
        match fs::create_dir(self.full(place)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match self.is_existing_directory(place) {
                // An undo must not remove a directory that another program has created.
                true => Ok(false),
                false => Err(io::ErrorKind::NotADirectory.into()),
            },
            Err(error) => Err(error),
        }
    }

    fn stage(&self, beside: &Place, content: &[u8]) -> io::Result<Place> {
        let (staged, file) = self.temporary(beside)?;
        self.fill(&staged, file, content)?;
        Ok(staged)
    }

    fn check_writable(&self, place: &Place) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.full(place)).map(drop)
    }

    fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
        // WASI can only rename over an existing file. A file that appears after this check is lost.
        match fs::symlink_metadata(self.full(to)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(self.full(from), self.full(to)),
            Err(error) => Err(error),
            Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "another program has created it meanwhile")),
        }
    }

    fn rename_over(&self, from: &Place, temporary: &Place) -> io::Result<()> {
        fs::rename(self.full(from), self.full(temporary))
    }

    fn overwrite(&self, place: &Place, content: &[u8]) -> io::Result<()> {
        self.put(place, content)
    }

    fn remove(&self, place: &Place) -> io::Result<()> {
        fs::remove_file(self.full(place))
    }

    fn remove_directory(&self, place: &Place) -> io::Result<()> {
        fs::remove_dir(self.full(place))
    }
}
