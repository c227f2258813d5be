//! The policies of projects that `portcullis init` writes: where each one is, and which one applies to a directory.
//!
//! A policy belongs to one resolved directory, whose hash is in the name of its file. So a link to a project, or a
//! project at another path, never finds it. This file must not know what is in a policy.

use sha2::{Digest, Sha256};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The directory of the policies of projects, in the program's configuration directory.
const PROJECTS: &str = "projects";

/// Length of the hash in a file name, in bytes. At 16 bytes, two directories with the same hash cannot be found.
const HASH_BYTES: usize = 16;

/// Maximum characters of a directory's name in a file name. The name is only for people.
const NAME_CHARACTERS_MAX: usize = 32;

/// A project that has a policy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FoundProject {
    /// The file of the policy.
    pub(crate) policy: PathBuf,
    /// The resolved directory of the project.
    pub(crate) directory: PathBuf,
}

/// Returns the file of the policy for a resolved directory. `config` is the program's configuration directory.
pub(crate) fn policy_file(config: &Path, directory: &Path) -> PathBuf {
    let digest = Sha256::digest(directory.as_os_str().as_bytes());
    let hash = data_encoding::HEXLOWER.encode(digest.get(..HASH_BYTES).unwrap_or(&digest));
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    // A name that begins with a dot would make a hidden file.
    let name: String = name.trim_start_matches('.').chars().filter(is_plain).take(NAME_CHARACTERS_MAX).collect();
    let name = if name.is_empty() { "project" } else { &name };
    config.join(PROJECTS).join(format!("{name}-{hash}.toml"))
}

/// Finds the policy for a directory, or for the nearest directory above it that has one.
///
/// # Errors
/// The directory cannot be resolved.
pub(crate) fn of_directory(config: &Path, directory: &Path) -> io::Result<Option<FoundProject>> {
    Ok(find(config, &resolved(directory)?))
}

/// Returns a directory without links.
///
/// # Errors
/// It cannot be resolved.
#[expect(clippy::disallowed_methods, reason = "the place of a project decides which policy applies")]
pub(crate) fn resolved(directory: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(directory)
}

/// Finds the policy for a resolved directory, or for the nearest one above it.
fn find(config: &Path, directory: &Path) -> Option<FoundProject> {
    directory.ancestors().find_map(|directory| {
        let policy = policy_file(config, directory);
        // A file that cannot be examined counts as found. Opening it then fails, and no wider policy takes its place.
        let is_missing = policy.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        (!is_missing).then(|| FoundProject { policy, directory: directory.to_owned() })
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_directory_with_a_policy_wins() {
        let root = std::env::temp_dir().join(format!("portcullis-projects-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let (config, outer) = (root.join("config"), root.join("outer"));
        let (inner, deep) = (outer.join("inner"), outer.join("inner/a/b"));
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(config.join(PROJECTS)).unwrap();
        assert_eq!(find(&config, &deep), None);
        for project in [&outer, &inner] {
            fs::write(policy_file(&config, project), "").unwrap();
            assert_eq!(find(&config, &deep).unwrap().directory, *project);
        }
        assert_eq!(find(&config, &outer).unwrap().directory, outer);
        assert_eq!(find(&config, &root.join("outer-2")), None);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_name_of_a_policy_is_plain_and_differs_for_each_directory() {
        let name = |path: &str| {
            let file = policy_file(Path::new("/c"), Path::new(path));
            file.strip_prefix("/c/projects").unwrap().to_str().unwrap().to_owned()
        };
        for (path, start) in [("/a/my app", "myapp-"), ("/", "project-"), ("/x/..;rm", "rm-"), ("/x/.dot", "dot-")] {
            assert!(name(path).starts_with(start), "{path}: {}", name(path));
        }
        assert_ne!(name("/a/b"), name("/c/b"));
    }
}
