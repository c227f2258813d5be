//! A directory as a handle. This is the one file that turns a path into a right; a lint forbids it everywhere else.

use portcullis_policy::Access;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::{FsPerms, OpenMode};

/// Directories of the system that hold devices, kernel state or the sockets of other programs. Nothing at, in or
/// around them can be granted.
const SYSTEM_DIRECTORIES: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// The most directories between a directory and the root. Linux limits a path to 4096 bytes, so to 2048 names.
const ANCESTORS_MAX: usize = 2048;

/// Why a directory cannot be granted.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It could not be opened.
    #[error("cannot open the directory {}: {source}", path.display())]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It holds what no plugin may reach.
    #[error("{} is, holds or lies in {}, which no plugin may reach: grant a directory of files", path.display(), reserved)]
    Reserved {
        /// The path as it was given.
        path: PathBuf,
        /// What it overlaps with.
        reserved: String,
    },
}

/// Which file or directory something is, by device and inode: the same under every name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The identity of an open file or directory.
    ///
    /// # Errors
    /// What the system says of the handle.
    pub fn of(handle: impl AsFd) -> io::Result<Self> {
        let stat = fstat(handle)?;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino })
    }

    /// The identities of a directory and of every directory above it, itself first.
    ///
    /// # Errors
    /// What the system says of one of them.
    pub fn with_ancestors(directory: impl AsFd) -> io::Result<Vec<Self>> {
        let mut identities = vec![Self::of(&directory)?];
        let mut current = above(directory.as_fd())?;
        while identities.len() < ANCESTORS_MAX {
            let identity = Self::of(&current)?;
            if identities.last() == Some(&identity) {
                return Ok(identities);
            }
            identities.push(identity);
            current = above(current.as_fd())?;
        }
        Err(Errno::LOOP.into())
    }
}

fn above(directory: impl AsFd) -> io::Result<OwnedFd> {
    Ok(openat(directory, "..", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// A directory that a call can be given. Clones share the handle.
#[derive(Clone)]
pub struct Directory(Dir);

impl std::fmt::Debug for Directory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Directory").field(&self.0.perms).finish()
    }
}

impl Directory {
    /// Opens a directory to grant it. Whoever holds the result can reach everything below the directory with this
    /// access, through any link that stays below it, and nothing above it.
    ///
    /// # Errors
    /// The path is no directory, cannot be opened, or overlaps with a directory of the system.
    pub fn open(path: &Path, access: Access) -> Result<Self, DirectoryError> {
        let failed = |source: io::Error| DirectoryError::Open { path: path.to_owned(), source };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        refuse_system(&directory, path)?;
        let (permissions, mode) = match access {
            Access::ReadOnly => (FsPerms::ReadOnly, OpenMode::READ),
            Access::ReadWrite => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
        };
        Ok(Self(Dir::new(File::from(directory), permissions, mode, false)))
    }

    /// The same directory without the right to change anything.
    #[must_use]
    pub fn read_only(&self) -> Self {
        let mut directory = self.0.clone();
        directory.perms = FsPerms::ReadOnly;
        directory.open_mode = OpenMode::READ;
        Self(directory)
    }

    /// What this handle allows.
    pub fn access(&self) -> Access {
        match self.0.perms {
            FsPerms::ReadOnly => Access::ReadOnly,
            FsPerms::ReadWrite => Access::ReadWrite,
        }
    }

    /// Whether this directory and `other` are the same, or one lies in the other, under any name.
    ///
    /// # Errors
    /// What the system says of one of the directories above them.
    pub fn overlaps(&self, other: impl AsFd) -> io::Result<bool> {
        overlap(self.0.dir.as_fd(), other)
    }

    /// Whether `other` is this directory or lies in it, under any name.
    ///
    /// # Errors
    /// What the system says of one of the directories above it.
    pub fn contains(&self, other: impl AsFd) -> io::Result<bool> {
        Ok(Identity::with_ancestors(other)?.contains(&Identity::of(&*self.0.dir)?))
    }

    /// The text of a file below the directory; nothing where there is no such file. No link is followed, and nothing is
    /// waited for.
    ///
    /// # Errors
    /// It is no regular file, it is longer than `bytes_max`, it is not UTF-8, or the system says no.
    pub fn read_text(&self, path: &Path, bytes_max: u64) -> io::Result<Option<String>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let file = match openat2(&*self.0.dir, path, flags, Mode::empty(), within) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let mut text = String::new();
        let read = file.take(bytes_max.saturating_add(1)).read_to_string(&mut text)?;
        if u64::try_from(read).unwrap_or(u64::MAX) > bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(Some(text))
    }

    pub(crate) fn descriptor(&self) -> Descriptor {
        Descriptor::Dir(self.0.clone())
    }
}

fn overlap(one: impl AsFd, other: impl AsFd) -> io::Result<bool> {
    let (ones, others) = (Identity::with_ancestors(one)?, Identity::with_ancestors(other)?);
    Ok(ones.contains(&others[0]) || others.contains(&ones[0]))
}

fn refuse_system(directory: &OwnedFd, path: &Path) -> Result<(), DirectoryError> {
    let failed = |source: io::Error| DirectoryError::Open { path: path.to_owned(), source };
    for reserved in SYSTEM_DIRECTORIES {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A system without the directory has nothing to protect in it.
        let Ok(system) = openat(CWD, reserved, flags, Mode::empty()) else { continue };
        if overlap(directory, &system).map_err(failed)? {
            return Err(DirectoryError::Reserved { path: path.to_owned(), reserved: reserved.to_owned() });
        }
    }
    Ok(())
}
