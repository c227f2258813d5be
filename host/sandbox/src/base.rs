//! The base of a binding's relative paths, and whether they may leave it.

use portcullis_policy::below_home;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory that the relative paths of a binding start from. Clones share the handle.
#[derive(Clone, Debug)]
pub struct PathBase {
    path: PathBuf,
    /// The directory that relative paths must not leave.
    root: Option<Arc<File>>,
    /// The directory that `~` and `$HOME` stand for, if it is known.
    home: Option<Arc<Path>>,
}

impl PathBase {
    /// Returns a base for the paths of a project's policy. A relative path must stay inside `root`, the open directory
    /// at `path`, also through links. An absolute path may lead outside.
    pub fn confined(path: PathBuf, root: OwnedFd) -> Self {
        Self { path, root: Some(Arc::new(File::from(root))), home: None }
    }

    /// Sets the directory that `~` and `$HOME` stand for at the beginning of a path. A path that begins with them
    /// counts as absolute.
    #[must_use]
    pub fn with_home(self, home: Option<&Path>) -> Self {
        Self { home: home.map(Arc::from), ..self }
    }

    /// Returns the directory that relative paths start from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the home directory, if it is known.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the path of a binding. It opens nothing, and a relative path may leave the base, so it is for messages
    /// and for programs, whose paths are absolute. If the home directory is needed and not known, the path stays as it
    /// is written.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.in_home(path).flatten().unwrap_or_else(|| self.path.join(path))
    }

    /// Returns the path of a program. Unlike a file, a name without a slash is not relative to the base.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.in_home(Path::new(name)).flatten().unwrap_or_else(|| PathBuf::from(name))
    }

    /// Returns the place of a path that begins with the home directory. The inner `None` means that the home directory
    /// is not known.
    fn in_home(&self, path: &Path) -> Option<Option<PathBuf>> {
        let rest = below_home(path.to_str()?)?;
        Some(self.home.as_deref().map(|home| home.join(rest)))
    }

    /// Opens the path of a binding.
    pub(crate) fn open(&self, path: impl AsRef<Path>, flags: OFlags) -> io::Result<OwnedFd> {
        let (path, flags) = (path.as_ref(), flags | OFlags::CLOEXEC);
        if let Some(place) = self.in_home(path) {
            let unknown = || io::Error::new(io::ErrorKind::NotFound, "the home directory is not known: set HOME");
            return Ok(openat(CWD, place.ok_or_else(unknown)?, flags, Mode::empty())?);
        }
        let Some(root) = self.root.as_deref().filter(|_| path.is_relative()) else {
            return Ok(openat(CWD, self.path.join(path), flags, Mode::empty())?);
        };
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        openat2(root, path, flags, Mode::empty(), within).map_err(|error| match error {
            // The error of `BENEATH` for a path that leaves the root, openat2(2).
            Errno::XDEV => io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it leads out of the project; to name a place outside of it, use an absolute path",
            ),
            // Refused, because any other open would follow a link out of the project.
            Errno::NOSYS => io::Error::new(
                io::ErrorKind::Unsupported,
                "this system cannot confine a path to a directory: it has no openat2, which needs Linux 5.6 or later",
            ),
            error => error.into(),
        })
    }
}

impl From<PathBuf> for PathBase {
    /// Returns a base for the paths of the user's policy. They may lead anywhere.
    fn from(path: PathBuf) -> Self {
        Self { path, root: None, home: None }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories that it opens")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_confined_path_stays_inside_its_root() {
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
        for path in ["~", "~/outside", "$HOME/outside/../outside"] {
            assert!(confined.open(path, OFlags::DIRECTORY).is_err(), "{path} without a known home directory");
            let at_home = confined.clone().with_home(Some(&folder));
            assert!(at_home.open(path, OFlags::DIRECTORY).is_ok(), "{path}");
            assert!(at_home.join(path).starts_with(&folder), "{path}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
