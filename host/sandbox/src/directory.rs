//! A directory as a handle. Only this file turns a path into a permission. A lint forbids it everywhere else.

mod lookup;
mod text;

pub(crate) use lookup::{Lookup, find_name, find_no_link, way_point};

use crate::base::PathBase;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Access, Masks};
use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, fstat, memfd_create, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::{FsPerms, OpenMode};

/// System directories with devices, kernel state or the sockets of other programs. A directory that is one of them, or
/// is inside or above one, cannot be granted.
const SYSTEM_DIRECTORIES: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];

/// Maximum directories between a directory and the root. Linux limits a path to 4096 bytes, so to 2048 names.
const ANCESTORS_MAX: usize = 2048;

/// Maximum length of a path that a directory is narrowed to, in bytes. Linux opens no longer path.
const NARROW_PATH_BYTES_MAX: usize = 4096;

/// Why a directory cannot be granted.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It could not be opened.
    #[error("cannot open the directory {}", path.display())]
    Open {
        /// The path as it was given.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It overlaps with a directory that no plugin may access.
    #[error("{} overlaps with {}, which no plugin may access; grant another directory", path.display(), reserved)]
    Reserved {
        /// The path as it was given.
        path: PathBuf,
        /// The reserved directory.
        reserved: String,
    },
}

/// The identity of a file or directory: its device and inode, which are the same under every name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns the identity of an open file or directory.
    ///
    /// # Errors
    /// The system refuses the handle.
    pub fn of(handle: impl AsFd) -> io::Result<Self> {
        let stat = fstat(handle)?;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino })
    }

    /// Returns the identities of a directory and of every directory above it. Its own comes first.
    ///
    /// # Errors
    /// The system refuses one of the directories.
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

/// Why a directory cannot be narrowed to a path.
#[derive(Debug, thiserror::Error)]
pub enum NarrowError {
    /// The path is absolute or too long, or it contains a backslash or a control character.
    #[error("it is not a path below the directory; use a relative path with `/` between the names")]
    Path,
    /// The path leads out of the directory, or out of what it was narrowed to before.
    #[error("it leads out of the directory")]
    Outside,
    /// The kernel cannot resolve a path without following links.
    #[error("this system cannot limit a call to one path: it has no openat2, which needs Linux 5.6 or later")]
    Unsupported,
    /// The handle could not be opened.
    #[error("the directory cannot be opened")]
    Open(#[source] io::Error),
}

/// One place below a directory: the file or directory at the end of these steps. It need not exist.
pub(crate) struct Narrowing {
    root: Arc<File>,
    steps: Vec<Box<str>>,
    /// The open place, once the call has used a path below it.
    place: Mutex<Option<Arc<File>>>,
}

impl Narrowing {
    /// Returns the names from the directory to the place, at least one.
    pub(crate) fn steps(&self) -> &[Box<str>] {
        &self.steps
    }

    /// Opens the directory after the first `depth` steps, for further lookups. Follows no link.
    pub(crate) fn open(&self, depth: usize, lookup: Lookup) -> io::Result<Arc<File>> {
        match self.steps.get(..depth) {
            None | Some([]) => Ok(Arc::clone(&self.root)),
            Some(steps) => Ok(Arc::new(File::from(way_point(&*self.root, &steps.join("/"), lookup)?))),
        }
    }

    /// Opens the place, for lookups below it. The handle is cached, because a tool that visits everything below a
    /// directory would otherwise open it again for each entry.
    pub(crate) fn open_place(&self, lookup: Lookup) -> io::Result<Arc<File>> {
        let mut place = self.place.lock_recovered();
        if let Some(place) = &*place {
            return Ok(Arc::clone(place));
        }
        let opened = self.open(self.steps.len(), lookup)?;
        *place = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Drops the cached handle of the place, because the call removes or creates the place.
    pub(crate) fn forget_place(&self) {
        *self.place.lock_recovered() = None;
    }
}

/// A directory that can be granted to a call. Clones share the handle.
#[derive(Clone)]
pub struct Directory {
    dir: Dir,
    narrowing: Option<Arc<Narrowing>>,
    masks: Option<Arc<Masks>>,
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = self.narrowing.as_ref().map(|narrowing| narrowing.steps());
        formatter.debug_struct("Directory").field("access", &self.dir.perms).field("narrowed", &steps).finish()
    }
}

impl Directory {
    /// Returns whether this is the directory at a resolved path, which has no link.
    ///
    /// # Errors
    /// The system refuses the path or one of the directories.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = openat(CWD, path, flags, Mode::empty())?;
        Ok(Identity::of(there)? == Identity::of(&*self.dir.dir)?)
    }

    /// Opens a directory to grant it. The result gives this access to everything below the directory, including through
    /// links that stay below it, and to nothing above it.
    ///
    /// # Errors
    /// The path is not a directory, cannot be opened, or overlaps with a system directory.
    pub fn open(path: &Path, access: Access) -> Result<Self, DirectoryError> {
        Self::open_from(&PathBase::from(PathBuf::new()), path, access)
    }

    /// Opens a directory to grant it, by a path that starts from a base.
    ///
    /// # Errors
    /// The errors of [`Directory::open`], or the path leaves a base that it must not leave.
    pub fn open_from(base: &PathBase, path: &Path, access: Access) -> Result<Self, DirectoryError> {
        let shown = base.join(path);
        let directory = base
            .open(path, OFlags::RDONLY | OFlags::DIRECTORY)
            .map_err(|source| DirectoryError::Open { path: shown.clone(), source })?;
        refuse_system(&directory, &shown)?;
        let (permissions, mode) = match access {
            Access::ReadOnly => (FsPerms::ReadOnly, OpenMode::READ),
            Access::ReadWrite => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
        };
        Ok(Self { dir: Dir::new(File::from(directory), permissions, mode, false), narrowing: None, masks: None })
    }

    /// Returns the same directory with masks: it hides some places and protects others from change. The masks apply to
    /// every handle that is made from the result.
    #[must_use]
    pub fn masked(self, masks: Masks) -> Self {
        Self { masks: (!masks.is_empty()).then(|| Arc::new(masks)), ..self }
    }

    /// Returns the same directory without write access.
    #[must_use]
    pub fn read_only(&self) -> Self {
        let mut directory = self.clone();
        directory.dir.perms = FsPerms::ReadOnly;
        directory.dir.open_mode = OpenMode::READ;
        directory
    }

    /// Returns the same directory, limited to one path: the file or directory there and everything below it. A guest
    /// can see the directories on the way, and create those that are missing. The path need not exist. An empty path,
    /// or `.`, is the whole directory. No link is followed on the way to the path.
    ///
    /// # Errors
    /// The path is not a plain relative path, it leads out of the directory, or the system does not support the limit.
    pub fn narrowed(&self, path: &str) -> Result<Self, NarrowError> {
        let steps = steps_of(path)?;
        if let Some(narrowing) = &self.narrowing {
            if steps.is_empty() || !steps.starts_with(&narrowing.steps) {
                return Err(NarrowError::Outside);
            }
        } else if steps.is_empty() {
            return Ok(self.clone());
        }
        // A separate handle, by which the guard distinguishes it from the whole directory. It allows lookups, not
        // reads.
        let root = way_point(&*self.dir.dir, ".", Lookup::Stored).map_err(|error| match error {
            Errno::NOSYS => NarrowError::Unsupported,
            error => NarrowError::Open(error.into()),
        })?;
        let root = Arc::new(File::from(root));
        let mut dir = self.dir.clone();
        dir.dir = Arc::clone(&root);
        let narrowing = Some(Arc::new(Narrowing { root, steps, place: Mutex::default() }));
        Ok(Self { dir, narrowing, masks: self.masks.clone() })
    }

    /// Returns the access that this handle allows.
    pub fn access(&self) -> Access {
        match self.dir.perms {
            FsPerms::ReadOnly => Access::ReadOnly,
            FsPerms::ReadWrite => Access::ReadWrite,
        }
    }

    /// Returns whether this directory and `other` are the same, or one is inside the other, under any name.
    ///
    /// # Errors
    /// The system refuses one of the directories above them.
    pub fn overlaps(&self, other: impl AsFd) -> io::Result<bool> {
        overlap(self.dir.dir.as_fd(), other)
    }

    /// Returns whether `other` is this directory or is inside it, under any name.
    ///
    /// # Errors
    /// The system refuses one of the directories above it.
    pub fn contains(&self, other: impl AsFd) -> io::Result<bool> {
        Ok(Identity::with_ancestors(other)?.contains(&Identity::of(&*self.dir.dir)?))
    }

    pub(crate) fn descriptor(&self) -> Descriptor {
        Descriptor::Dir(self.dir.clone())
    }

    /// Returns the open directory. Another grant shares it only if it gives the same access.
    pub(crate) fn handle(&self) -> &Arc<File> {
        &self.dir.dir
    }

    /// Returns its masks, if it has any.
    pub fn masks(&self) -> Option<&Arc<Masks>> {
        self.masks.as_ref()
    }

    pub(crate) fn narrowing(&self) -> Option<&Arc<Narrowing>> {
        self.narrowing.as_ref()
    }
}

/// The handle of every closed directory. It is an empty file in memory, so no path leads anywhere from it.
static CLOSED: OnceLock<Dir> = OnceLock::new();

/// Returns a descriptor that takes the place of a directory that a call is not given.
///
/// # Errors
/// The process has no room for another open file.
pub(crate) fn closed_descriptor() -> io::Result<Descriptor> {
    let closed = match CLOSED.get() {
        Some(closed) => closed,
        None => {
            let file = File::from(memfd_create("closed directory", MemfdFlags::CLOEXEC)?);
            CLOSED.get_or_init(|| Dir::new(file, FsPerms::ReadOnly, OpenMode::READ, false))
        }
    };
    Ok(Descriptor::Dir(closed.clone()))
}

/// Returns whether a handle is that of a closed directory.
pub(crate) fn is_closed(handle: &Arc<File>) -> bool {
    CLOSED.get().is_some_and(|closed| Arc::ptr_eq(&closed.dir, handle))
}

/// Returns the names in a path, with `.` and `..` resolved.
fn steps_of(path: &str) -> Result<Vec<Box<str>>, NarrowError> {
    let foreign = |character: char| character == '\\' || character.is_control();
    if path.len() > NARROW_PATH_BYTES_MAX || path.starts_with('/') || path.contains(foreign) {
        return Err(NarrowError::Path);
    }
    let mut steps = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(steps.pop().ok_or(NarrowError::Outside)?),
            name => steps.push(Box::from(name)),
        }
    }
    Ok(steps)
}

fn overlap(one: impl AsFd, other: impl AsFd) -> io::Result<bool> {
    let (ones, others) = (Identity::with_ancestors(one)?, Identity::with_ancestors(other)?);
    Ok(ones.contains(&others[0]) || others.contains(&ones[0]))
}

fn refuse_system(directory: &OwnedFd, path: &Path) -> Result<(), DirectoryError> {
    let failed = |source: io::Error| DirectoryError::Open { path: path.to_owned(), source };
    for reserved in SYSTEM_DIRECTORIES {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // If the system does not have the directory, there is nothing to protect.
        let Ok(system) = openat(CWD, reserved, flags, Mode::empty()) else { continue };
        if overlap(directory, &system).map_err(failed)? {
            return Err(DirectoryError::Reserved { path: path.to_owned(), reserved: reserved.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrowed(path: &str) -> Result<Directory, NarrowError> {
        Directory::open(Path::new(env!("CARGO_MANIFEST_DIR")), Access::ReadWrite).unwrap().narrowed(path)
    }

    fn steps(directory: &Directory) -> String {
        directory.narrowing().map(|narrowing| narrowing.steps().join("/")).unwrap_or_default()
    }

    #[test]
    fn a_path_has_one_spelling() {
        let long = "a/".repeat(NARROW_PATH_BYTES_MAX / 2);
        for (path, spelt) in [
            ("src", "src"),
            ("src/", "src"),
            ("./src//lib.rs", "src/lib.rs"),
            ("src/../nothing/new", "nothing/new"),
            ("...", "..."),
            ("a b/\u{e9}", "a b/\u{e9}"),
            ("", ""),
            (".", ""),
            ("./", ""),
            ("src/..", ""),
            (&long, long.trim_end_matches('/')),
        ] {
            assert_eq!(steps(&narrowed(path).unwrap()), spelt, "{path:?}");
        }
    }

    #[test]
    fn a_path_that_is_invalid_or_leads_out_is_refused() {
        for path in ["/", "/src", "//", "src\\lib.rs", "a\0", "a\nb", "\u{85}", &"a".repeat(NARROW_PATH_BYTES_MAX + 1)]
        {
            assert!(matches!(narrowed(path), Err(NarrowError::Path)), "{path:?}");
        }
        for path in ["..", "../src", "src/../..", "a/../../a", "./.."] {
            assert!(matches!(narrowed(path), Err(NarrowError::Outside)), "{path:?}");
        }
    }

    #[test]
    fn a_narrowed_directory_is_never_widened() {
        let narrow = narrowed("src/http").unwrap();
        assert_eq!(steps(&narrow.narrowed("src/http/mod.rs").unwrap()), "src/http/mod.rs");
        assert_eq!(steps(&narrow.read_only().narrowed("src/http").unwrap()), "src/http");
        assert_eq!(narrow.read_only().narrowed("src/http").unwrap().access(), Access::ReadOnly);
        for path in ["", ".", "src", "src/htt", "src/http2", "src/http/..", "tests", "http"] {
            assert!(matches!(narrow.narrowed(path), Err(NarrowError::Outside)), "{path:?}");
        }
    }
}
