//! The directories of an imported server: those that its command line and its variables name, and that of its script.

use super::naming::directory_key;
use crate::user_files;
use portcullis::policy::Access;
use portcullis::text::OneLine;
use portcullis_policy_edit::ServerDirectory;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Keys that a server cannot use, because the host does.
const TAKEN_KEYS: [&str; 4] = ["server", "network", "package", "library"];

/// Directories of the system that every confined program sees.
const OF_THE_SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev"];

/// Files that mark the directory of a program with its libraries.
const PROJECT_MARKS: [&str; 4] = ["package.json", "pyproject.toml", "setup.py", "pyvenv.cfg"];

/// How far above a script such a directory is looked for.
const PROJECT_LEVELS_MAX: usize = 4;

/// The places whose grant would be refused, or would grant too much.
pub(super) struct KeptPlaces {
    pub(super) home: Option<PathBuf>,
    /// The state directory, without links.
    pub(super) state: PathBuf,
}

impl KeptPlaces {
    /// Returns whether the home directory is in a directory, of which `resolved` is the path without links.
    fn home_is_in(&self, directory: &Path, resolved: &Path) -> bool {
        let Some(home) = &self.home else { return false };
        // `HOME` may lead through links, and a configuration may name either of its paths.
        let without_links = user_files::resolve(home).ok();
        let mut paths = [Some(home), without_links.as_ref()].into_iter().flatten();
        paths.any(|home| home.starts_with(directory) || home.starts_with(resolved))
    }
}

/// The directories of a server, and what the user should know about them.
#[derive(Default)]
pub(super) struct ImportedDirectories {
    pub(super) granted: Vec<ServerDirectory>,
    pub(super) notes: Vec<String>,
    taken: BTreeSet<String>,
    paths: BTreeSet<PathBuf>,
}

impl ImportedDirectories {
    /// Finds the directories. `program` has the words of a program of the machine, and `named` the texts that may be
    /// paths.
    pub(super) fn of(program: &[String], named: &[&str], kept: &KeptPlaces) -> Self {
        let taken = TAKEN_KEYS.iter().map(|key| (*key).to_owned()).collect();
        let mut directories = Self { taken, ..Self::default() };
        let (started, arguments) =
            program.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
        let script = arguments.iter().map(Path::new).find(|path| is_script(path));
        // A program needs its directory only if its libraries are beside it. A script always does.
        let needed = [marked_above(Path::new(started)), script.map(project_of)];
        needed.into_iter().flatten().for_each(|directory| directories.grant(&directory, kept));
        for text in named {
            // The value of an option, such as `--root=/srv`.
            let path = text.split_once('=').filter(|(name, _)| name.starts_with('-')).map_or(*text, |(_, path)| path);
            let path = match (path.strip_prefix("~/"), &kept.home) {
                (Some(rest), Some(home)) => home.join(rest),
                (_, _) => PathBuf::from(path),
            };
            // The directory of the script is granted already.
            if path.is_absolute() && script != Some(&*path) {
                directories.grant_named(&path, kept);
            }
        }
        directories
    }

    fn grant_named(&mut self, path: &Path, kept: &KeptPlaces) {
        if path.is_dir() {
            self.grant(path, kept);
        } else if path.is_file() {
            let parent = path.parent().unwrap_or(path).to_owned();
            self.notes.push(format!("{} is a file, so its directory is granted", shown(path)));
            self.grant(&parent, kept);
        } else {
            self.notes.push(format!("{} does not exist, so it is not granted", shown(path)));
        }
    }

    fn grant(&mut self, directory: &Path, kept: &KeptPlaces) {
        let Ok(resolved) = user_files::resolve(directory) else { return };
        if OF_THE_SYSTEM.iter().any(|system| directory.starts_with(system)) || self.covers(&resolved) {
            return;
        }
        if kept.home_is_in(directory, &resolved)
            || kept.state.starts_with(&resolved)
            || resolved.starts_with(&kept.state)
        {
            let what =
                "contains your whole home directory or the host's state, so it is not granted: grant a part of it";
            self.notes.push(format!("{} {what}", shown(directory)));
            return;
        }
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (Some(key), Some(path)) = (directory_key(name, &mut self.taken), directory.to_str()) else { return };
        self.paths.insert(resolved);
        // Read-only, because no configuration says whether a server writes.
        self.granted.push(ServerDirectory { key, path: path.to_owned(), access: Access::ReadOnly });
    }

    fn covers(&self, directory: &Path) -> bool {
        self.paths.iter().any(|known| directory.starts_with(known))
    }
}

/// Returns the directory that a script needs: the nearest one with the marks of a project, or its own.
fn project_of(script: &Path) -> PathBuf {
    marked_above(script).unwrap_or_else(|| script.parent().unwrap_or(script).to_owned())
}

/// Returns the nearest directory above a file with the marks of a project.
fn marked_above(file: &Path) -> Option<PathBuf> {
    let mut above = file.ancestors().skip(1).take(PROJECT_LEVELS_MAX);
    let is_marked = |directory: &Path| PROJECT_MARKS.iter().any(|mark| directory.join(mark).is_file());
    above.find(|directory| is_marked(directory)).map(Path::to_owned)
}

fn is_script(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    path.is_absolute() && ["js", "mjs", "cjs", "ts", "py"].contains(&extension) && path.is_file()
}

fn shown(path: &Path) -> String {
    OneLine(&path.to_string_lossy()).to_string()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// `HOME` may be a link to a directory on another disk, and a configuration may name that directory.
    #[test]
    fn the_home_directory_is_granted_by_none_of_its_paths() {
        let root = std::env::temp_dir().join(format!("portcullis-homes-{}", std::process::id()));
        fs::create_dir_all(root.join("data/me/work")).unwrap();
        fs::create_dir_all(root.join("home")).unwrap();
        let root = root.canonicalize().unwrap();
        symlink(root.join("data/me"), root.join("home/me")).unwrap();
        let granted = |home: &str, named: &str| {
            let kept = KeptPlaces { home: Some(root.join(home)), state: root.join("state") };
            let named = root.join(named).to_string_lossy().into_owned();
            ImportedDirectories::of(&[], &[named.as_str()], &kept).granted.len()
        };
        for home in ["home/me", "data/me"] {
            for named in ["home/me", "home", "data/me", "data", ""] {
                // The directory of the link alone has nothing of a home directory that is elsewhere.
                let expected = usize::from((home, named) == ("data/me", "home"));
                assert_eq!(granted(home, named), expected, "{home} {named}");
            }
            assert_eq!((granted(home, "home/me/work"), granted(home, "data/me/work")), (1, 1), "{home}");
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
