//! Where the relative paths of a binding start, and whether they may lead out of there.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the relative paths of a binding start. Clones share the handle.
#[derive(Clone, Debug)]
pub struct PathBase {
    path: PathBuf,
    /// The directory that relative paths must not leave.
    root: Option<Arc<File>>,
}

impl PathBase {
    /// Returns a base for paths that a project wrote: a relative one must stay inside of `root`, which is the open
    /// directory at `path`. A link on the way may lead elsewhere inside of it, and nowhere else. An absolute path is
    /// not held to it.
    pub fn confined(path: PathBuf, root: OwnedFd) -> Self {
        Self { path, root: Some(Arc::new(File::from(root))) }
    }

    /// Returns the directory that relative paths start from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path by which people know what a binding names. Nothing is opened by it.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.path.join(path)
    }

    /// Opens what a path of a binding names.
    pub(crate) fn open(&self, path: impl AsRef<Path>, flags: OFlags) -> io::Result<OwnedFd> {
        let (path, flags) = (path.as_ref(), flags | OFlags::CLOEXEC);
        let Some(root) = self.root.as_deref().filter(|_| path.is_relative()) else {
            return Ok(openat(CWD, self.path.join(path), flags, Mode::empty())?);
        };
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        openat2(root, path, flags, Mode::empty(), within).map_err(|error| match error {
            Errno::XDEV => io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it leads out of the project; a project's policy names a place outside of it by an absolute path",
            ),
            Errno::NOSYS => io::Error::new(
                io::ErrorKind::Unsupported,
                "this system cannot hold a path to a directory: it has no openat2, which Linux has from 5.6 on",
            ),
            error => error.into(),
        })
    }
}

impl From<PathBuf> for PathBase {
    /// Returns a base for paths that the user wrote: they may lead anywhere.
    fn from(path: PathBuf) -> Self {
        Self { path, root: None }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories that it opens")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_confined_path_stays_inside_of_its_root() {
        let folder = std::env::temp_dir().join(format!("portcullis-base-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("project/deep")).unwrap();
        fs::create_dir_all(folder.join("outside")).unwrap();
        let project = folder.join("project");
        symlink("deep", project.join("within")).unwrap();
        symlink("../outside", project.join("out")).unwrap();
        symlink(folder.join("outside"), project.join("absolute")).unwrap();
        symlink(&project, folder.join("outside/back")).unwrap();
        let root = openat(CWD, &project, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let confined = PathBase::confined(project.clone(), root);
        let free = PathBase::from(project);
        let absolute = folder.join("outside");
        for (path, inside) in [
            ("deep", true),
            ("./deep/../deep", true),
            ("within", true),
            (".", true),
            ("out", false),
            ("absolute", false),
            ("../outside", false),
            ("../project", false),
            ("out/back", false),
        ] {
            assert_eq!(confined.open(path, OFlags::DIRECTORY).is_ok(), inside, "{path}");
            assert!(free.open(path, OFlags::DIRECTORY).is_ok(), "{path}");
        }
        assert!(confined.open(&absolute, OFlags::DIRECTORY).is_ok());
        fs::remove_dir_all(folder).unwrap();
    }
}
