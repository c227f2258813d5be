//! Going on from an open directory: to another one below it, or to see what a name stands for. Nothing that is opened
//! here can be read or written.

use super::{Directory, Identity};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// How directories on the way are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// In what the kernel has in memory: at once, with `EAGAIN` for what it does not have, and with `EINVAL` before
    /// Linux 5.12.
    Cached,
    /// Wherever they are stored. Blocks.
    Stored,
}

impl Directory {
    /// Returns whether this is the directory at a path that was resolved, so that no link is in it.
    ///
    /// # Errors
    /// What the system says of the path or of one of the directories.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = openat(CWD, path, flags, Mode::empty())?;
        Ok(Identity::of(there)? == Identity::of(&*self.dir.dir)?)
    }
}

/// Opens a directory below another one to go through it, by a path without a link in it.
pub(crate) fn way_point(directory: impl AsFd, path: &str, lookup: Lookup) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open_without_links(directory, path, flags, lookup)
}

/// Finds what is at a path without a link in it or at its end. What is opened can be looked at, not read.
pub(crate) fn find_no_link(directory: impl AsFd, path: &str, lookup: Lookup) -> Result<OwnedFd, Errno> {
    open_without_links(directory, path, OFlags::PATH | OFlags::CLOEXEC, lookup)
}

/// Finds what is at a name in a directory, also where it is a link. What is opened can be looked at, not read.
pub(crate) fn find_name(directory: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    openat(directory, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn open_without_links(directory: impl AsFd, path: &str, flags: OFlags, lookup: Lookup) -> Result<OwnedFd, Errno> {
    let mut within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if lookup == Lookup::Cached {
        within |= ResolveFlags::CACHED;
    }
    openat2(directory, path, flags, Mode::empty(), within)
}
