//! The granted directory. The only module that accesses files, so that the same checks apply to every tool.
//!
//! A path never leads through a symbolic link. A policy matches the path in the arguments, and a link would be a second
//! name for a file that no rule matches. The error names the target, so that the next call can use it.
#![expect(
    clippy::disallowed_methods,
    reason = "std::fs reaches the preopened directory of this call, and nothing else"
)]

mod disk;

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use portcullis_sdk::prelude::*;

use crate::neighbours;
use crate::place::Place;
use crate::text;

pub(crate) use self::disk::Disk;

/// `EOVERFLOW` of wasi-libc: the directory has more entries than the host lists for one call.
const TOO_MANY_ENTRIES: i32 = 61;

/// `EILSEQ` of wasi-libc: the directory has an entry whose name is not UTF-8, which WASI cannot represent.
const NAME_IS_NOT_UTF8: i32 = 25;

/// Maximum number of names to try for a temporary file. All of them exist only if stopped calls left files behind.
const TEMPORARY_NAMES_MAX: u32 = 64;

/// One entry of a directory.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: FileType,
}

/// The effect of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Created,
    Replaced,
}

/// The key of the granted directory.
const KEY: &str = "workspace";

/// The granted directory.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Opens the workspace of a call.
    pub(crate) fn of(context: &Context) -> Result<Self, Failure> {
        Ok(Self { root: context.directory(KEY)?.path().to_owned() })
    }

    /// Parses a path and refuses one that leads through a symbolic link. The path need not exist.
    pub(crate) fn locate(&self, written: &str) -> Result<Place, Failure> {
        let place = Place::parse(written)?;
        for step in place.way() {
            match fs::symlink_metadata(self.full(&step)) {
                Ok(metadata) if metadata.is_symlink() => return Err(self.refuse_link(&step)),
                Ok(_) => {}
                // The access itself reports what is wrong with the path.
                Err(_) => break,
            }
        }
        Ok(place)
    }

    /// Returns the full path of a place.
    pub(crate) fn full(&self, place: &Place) -> PathBuf {
        if place.path().is_empty() { self.root.clone() } else { self.root.join(place.path()) }
    }

    /// Returns whether a place is a directory.
    pub(crate) fn is_directory(&self, place: &Place) -> Result<bool, Failure> {
        let metadata = fs::symlink_metadata(self.full(place)).map_err(|error| self.explain(place, &error))?;
        Ok(metadata.is_dir())
    }

    /// Returns the size of a file in bytes, if known.
    pub(crate) fn size(&self, place: &Place) -> Option<u64> {
        fs::symlink_metadata(self.full(place)).ok().map(|metadata| metadata.len())
    }

    /// Returns the target of a symbolic link.
    pub(crate) fn link_target(&self, place: &Place) -> Option<String> {
        fs::read_link(self.full(place)).ok().map(|target| text::printable(&target.to_string_lossy()))
    }

    /// Opens a regular file. Returns the file and its size.
    pub(crate) fn open(&self, place: &Place) -> Result<(File, u64), Failure> {
        let explain = |error: io::Error| self.explain(place, &error);
        let metadata = fs::symlink_metadata(self.full(place)).map_err(explain)?;
        if metadata.is_dir() {
            return Err(Failure::failed(format!("`{}` is a directory; use `list`", place.shown())));
        }
        // Look before opening: opening a named pipe would wait for its writer.
        if !metadata.is_file() {
            return Err(Failure::failed(format!("`{}` is not a regular file", place.shown())));
        }
        Ok((File::open(self.full(place)).map_err(explain)?, metadata.len()))
    }

    /// Reads a whole file. Fails if it is larger than a limit.
    pub(crate) fn read(&self, place: &Place, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        let (file, size) = self.open(place)?;
        let too_large = || {
            Failure::failed(format!("`{}` is larger than the {bytes_max} bytes that fit into one call", place.shown()))
        };
        if size > bytes_max {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
        // The file may have grown since its size was read, so read one byte more than is allowed.
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| self.explain(place, &error))?;
        if bytes.len() as u64 > bytes_max { Err(too_large()) } else { Ok(bytes) }
    }

    /// Returns the entries of a directory, sorted by name.
    pub(crate) fn entries(&self, place: &Place) -> Result<Vec<Entry>, Failure> {
        let explain = |error: io::Error| match error.kind() {
            io::ErrorKind::NotADirectory => Failure::failed(format!("`{}` is a file; use `read`", place.shown())),
            _ => self.explain(place, &error),
        };
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.full(place)).map_err(explain)? {
            let entry = entry.map_err(explain)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(Entry { name, kind: entry.file_type().map_err(explain)? });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Returns the names in a directory for an error message, or `None` on an error.
    fn neighbours(&self, place: &Place) -> Option<Vec<String>> {
        // Check first: for a file, the error of `entries` would look for neighbours again.
        if !self.is_existing_directory(place) {
            return None;
        }
        let name = |Entry { name, kind }| if kind.is_dir() { format!("{name}/") } else { name };
        Some(self.entries(place).ok()?.into_iter().map(name).collect())
    }

    fn is_existing_directory(&self, place: &Place) -> bool {
        fs::symlink_metadata(self.full(place)).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Returns what a write of this content would change, or the error that the write would have.
    pub(crate) fn change(&self, place: &Place, content: impl Into<String>) -> Result<FileChange, Failure> {
        self.check_file(place)?;
        Ok(FileChange::new(KEY, place.path(), content))
    }

    /// Returns the change that removes a file.
    pub(crate) fn removal(place: &Place) -> FileChange {
        FileChange::removed(KEY, place.path())
    }

    /// Returns whether a place to write to is an existing file. Fails if it is something other than a file.
    pub(crate) fn check_file(&self, place: &Place) -> Result<bool, Failure> {
        match fs::symlink_metadata(self.full(place)) {
            Ok(metadata) if metadata.is_dir() => {
                Err(Failure::failed(format!("`{}` is a directory; name a file in it", place.shown())))
            }
            Ok(metadata) if !metadata.is_file() => {
                Err(Failure::failed(format!("`{}` is not a regular file", place.shown())))
            }
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.explain(place, &error)),
        }
    }

    /// Writes a file, and creates missing parent directories.
    ///
    /// A new file appears complete: it is written to a temporary file and renamed. If the call has no right to other
    /// names in the directory, the file is written directly and removed again on failure. An existing file is
    /// overwritten in place, because WASI has no modes and a rename would drop the executable bit, the owner and the
    /// hard links of the file. If that fails half-way, the old content is restored.
    pub(crate) fn write(&self, place: &Place, content: &[u8], old: Option<&[u8]>) -> Result<Written, Failure> {
        let explain = |error: io::Error| self.explain(place, &error);
        match self.check_file(place)? {
            true => self.overwrite(place, content, old).map(|()| Written::Replaced).map_err(explain),
            false => self.create(place, content).map(|()| Written::Created).map_err(explain),
        }
    }

    fn overwrite(&self, place: &Place, content: &[u8], old: Option<&[u8]>) -> io::Result<()> {
        self.put(place, content).inspect_err(|_| {
            if let Some(old) = old {
                // Report the first error; a second one would not help.
                let _ = self.put(place, old);
            }
        })
    }

    /// Replaces the content of an existing file in place.
    fn put(&self, place: &Place, content: &[u8]) -> io::Result<()> {
        // Open without truncating: a write that is refused immediately then leaves the file unchanged.
        let mut file = OpenOptions::new().write(true).open(self.full(place))?;
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
        file.flush()
    }

    fn create(&self, place: &Place, content: &[u8]) -> io::Result<()> {
        fs::create_dir_all(place.parent().map_or_else(|| self.root.clone(), |parent| self.full(&parent)))?;
        let (staged, file) = match self.temporary(place) {
            // A handle narrowed to this path gives no right to a temporary name next to it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let file = OpenOptions::new().write(true).create_new(true).open(self.full(place))?;
                return self.fill(place, file, content);
            }
            temporary => temporary?,
        };
        self.fill(&staged, file, content)?;
        fs::rename(self.full(&staged), self.full(place)).inspect_err(|_| {
            // Report the error of the rename.
            let _ = fs::remove_file(self.full(&staged));
        })
    }

    /// Writes the content of a new file. Removes the file on failure.
    fn fill(&self, place: &Place, mut file: File, content: &[u8]) -> io::Result<()> {
        let written = file.write_all(content).and_then(|()| file.flush());
        drop(file);
        written.inspect_err(|_| {
            // Report the error of the write.
            let _ = fs::remove_file(self.full(place));
        })
    }

    /// Creates an empty temporary file next to a place.
    fn temporary(&self, place: &Place) -> io::Result<(Place, File)> {
        let name = place.name();
        for number in 0..TEMPORARY_NAMES_MAX {
            let temporary = place.sibling(&format!(".{name}.{number}.part"));
            // `create_new` opens nothing that exists, also no link that another program has put there.
            match OpenOptions::new().write(true).create_new(true).open(self.full(&temporary)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => return Ok((temporary, file)),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("`.{name}.*.part` files exist already; remove them")))
    }

    fn refuse_link(&self, link: &Place) -> Failure {
        let shown = link.shown();
        let Some(target) = self.link_target(link) else {
            return Failure::failed(format!("`{shown}` is a symbolic link, and links are not followed"));
        };
        let beside = link.parent().map(|parent| parent.path().to_owned()).unwrap_or_default();
        match Place::parse(format!("{beside}/{target}").trim_start_matches('/')) {
            Ok(place) if !target.starts_with('/') => Failure::failed(format!(
                "`{shown}` is a symbolic link, and links are not followed; use `{}`",
                place.shown()
            )),
            Ok(_) | Err(_) => {
                Failure::failed(format!("`{shown}` is a symbolic link out of the workspace, to `{target}`"))
            }
        }
    }

    /// Turns an I/O error into a failure for the model.
    pub(crate) fn explain(&self, place: &Place, error: &io::Error) -> Failure {
        let shown = place.shown();
        match error.kind() {
            io::ErrorKind::NotFound => Failure::failed(neighbours::of_missing(place, |place| self.neighbours(place))),
            io::ErrorKind::IsADirectory => Failure::failed(format!("`{shown}` is a directory; use `list`")),
            io::ErrorKind::NotADirectory => {
                Failure::failed(format!("`{shown}`: one of its parent directories is a file"))
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Failure::denied(format!("`{shown}`: this call has no permission for that ({})", error.kind()))
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Failure::unavailable(format!("`{shown}`: no space left ({})", error.kind()))
            }
            _ => match listing_problem(error) {
                Some(why) => Failure::failed(format!("`{shown}` {why}")),
                None => Failure::failed(format!("`{shown}`: {error}")),
            },
        }
    }
}

/// Returns why a directory could not be read completely, as the rest of a sentence about it.
pub(crate) fn unreadable(error: &io::Error) -> String {
    match listing_problem(error) {
        Some(why) => why.to_owned(),
        None => format!("cannot be read ({})", error.kind()),
    }
}

/// Returns the reason why the host does not list a directory, for the model.
fn listing_problem(error: &io::Error) -> Option<&'static str> {
    if !cfg!(target_os = "wasi") {
        return None;
    }
    match error.raw_os_error()? {
        TOO_MANY_ENTRIES => Some(
            "has more entries than the policy's limit `directory-entries`; name a directory or a file beneath it, or ask \
             the user to raise the limit",
        ),
        NAME_IS_NOT_UTF8 => Some("has an entry whose name is not UTF-8; ask the user to rename it"),
        _ => None,
    }
}
