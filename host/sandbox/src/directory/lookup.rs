//! Looks up paths from an open directory: opens a directory below it, or finds what a name refers to. What is opened
//! here cannot be read or written.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

/// How the directories of a path are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// Only in the kernel's cache, without blocking. Fails with `EAGAIN` if something is not cached, and with `EINVAL`
    /// before Linux 5.12.
    Cached,
    /// In the file system. Blocks.
    Stored,
}

/// Opens a directory below another one for further lookups, by a path without links.
pub(crate) fn way_point(directory: impl AsFd, path: &str, lookup: Lookup) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open_without_links(directory, path, flags, lookup)
}

/// Opens the object at a path without links, also at its end. The handle can be inspected, not read.
pub(crate) fn find_no_link(directory: impl AsFd, path: &str, lookup: Lookup) -> Result<OwnedFd, Errno> {
    open_without_links(directory, path, OFlags::PATH | OFlags::CLOEXEC, lookup)
}

/// Opens the object with a name in a directory, even if it is a link. The handle can be inspected, not read.
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
