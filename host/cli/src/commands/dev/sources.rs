//! Watches the sources of a project for changes.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{stderr, stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders of generated files, at any depth. They contain no sources.
const MADE: [&str; 7] = ["node_modules", "target", "__pycache__", "zig-out", "zig-cache", "venv", "dist"];

/// Folders that contain no sources at the top of a project. Deeper down they are the author's own.
const NO_SOURCES_AT_TOP: [&str; 2] = ["plugins", "tests"];

/// The policy of the project, which is not a source of the plugin.
const POLICY: &str = "portcullis.toml";

/// Maximum files and folders to watch. More than a project of tools has, and few enough to check quickly, wherever a
/// link leads.
pub(super) const FILES_MAX: usize = 20_000;

/// The metadata that shows whether a file has changed, without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceStamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

impl SourceStamp {
    /// Returns the stamp of a file, or `None` if it does not exist.
    #[expect(clippy::disallowed_methods, reason = "the person's own project, watched for them")]
    pub(super) fn of(file: &Path) -> Option<Self> {
        std::fs::metadata(file).ok().map(|metadata| Self::from(&metadata))
    }

    fn from(metadata: &Metadata) -> Self {
        Self { modified: metadata.modified().ok(), bytes: metadata.len(), inode: metadata.ino() }
    }
}

type SourceSnapshot = BTreeMap<PathBuf, SourceStamp>;

/// The identity of a file: device and inode.
type Id = (u64, u64);

/// The sources of a project.
pub(super) struct Sources {
    root: PathBuf,
    /// The state directory, which may be inside the project.
    state: PathBuf,
    /// The files that this program's output goes to. Writing about a build would otherwise count as a change.
    outputs: Vec<Id>,
    /// Maximum files and folders to watch.
    most: usize,
    /// Whether the project has more.
    are_more: bool,
    /// The sources at the last reported change.
    told: SourceSnapshot,
    /// The sources at the last check.
    last: SourceSnapshot,
}

impl Sources {
    /// Watches the files below a folder, except the state directory. At first, all of them count as changed.
    pub(super) fn new(root: &Path, state: &Path) -> Self {
        Self {
            root: root.to_owned(),
            state: state.to_owned(),
            outputs: outputs(),
            most: FILES_MAX,
            are_more: false,
            told: SourceSnapshot::new(),
            last: SourceSnapshot::new(),
        }
    }

    /// Checks the sources. Returns true if they have changed and are stable, the same as at the previous check.
    pub(super) fn changed(&mut self) -> bool {
        let now = self.collect();
        let quiet = now == self.last;
        self.last = now;
        if quiet && self.last != self.told {
            self.told.clone_from(&self.last);
            return true;
        }
        false
    }

    /// Returns whether the project has more files than are watched.
    pub(super) fn are_more(&self) -> bool {
        self.are_more
    }

    /// Collects the files below the project's folder, and in linked folders. Skips what cannot be read.
    #[expect(clippy::disallowed_methods, reason = "the person's own project, watched for them")]
    fn collect(&mut self) -> SourceSnapshot {
        let (mut files, mut looked) = (SourceSnapshot::new(), 0);
        // Visit each folder once, because links may form a cycle.
        let apart = [&self.root, &self.state].into_iter().flat_map(std::fs::metadata);
        let mut known: HashSet<Id> = apart.map(|metadata| id(&metadata)).collect();
        // Visit linked folders last: they may be large, and get what remains of the maximum.
        let (mut folders, mut linked) = (vec![self.root.clone()], Vec::new());
        while looked <= self.most
            && let Some(folder) = folders.pop().or_else(|| linked.pop())
        {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten().filter(|entry| is_source(folder == self.root, &entry.file_name())) {
                let (path, is_link) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_symlink()));
                // The metadata of the target, not of the link.
                let Ok(metadata) = std::fs::metadata(&path) else { continue };
                looked += 1;
                if looked > self.most {
                    break;
                }
                if self.outputs.contains(&id(&metadata)) {
                    continue;
                }
                if !metadata.is_dir() {
                    files.insert(path, SourceStamp::from(&metadata));
                } else if known.insert(id(&metadata)) {
                    if is_link { linked.push(path) } else { folders.push(path) }
                }
            }
        }
        self.are_more = looked > self.most;
        files
    }
}

fn id(metadata: &Metadata) -> Id {
    (metadata.dev(), metadata.ino())
}

/// Returns the files behind standard output and standard error, if they are files.
fn outputs() -> Vec<Id> {
    let of = |stream: BorrowedFd<'_>| File::from(stream.try_clone_to_owned()?).metadata();
    let found = [of(stdout().as_fd()), of(stderr().as_fd())];
    found.into_iter().flatten().filter(Metadata::is_file).map(|metadata| id(&metadata)).collect()
}

/// Returns whether an entry with this name is watched.
fn is_source(at_top: bool, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let name = name.as_ref();
    let made = MADE.contains(&name) || at_top && NO_SOURCES_AT_TOP.contains(&name);
    !(name.starts_with('.') || name == POLICY || made)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test lays out a project")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_change_is_reported_once_when_it_is_stable() {
        let root = std::env::temp_dir().join(format!("portcullis-sources-{}", std::process::id()));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("plugins")).unwrap();
        fs::create_dir_all(root.join("src/plugins")).unwrap();
        fs::write(root.join("src/a.py"), "1").unwrap();
        let mut sources = Sources::new(&root, &root.join("state"));
        assert_eq!([sources.changed(), sources.changed(), sources.changed()], [false, true, false]);
        for made in ["plugins/a.wasm", ".hidden", "portcullis.toml"] {
            fs::write(root.join(made), "made").unwrap();
            assert_eq!([sources.changed(), sources.changed()], [false, false], "{made}");
        }
        fs::create_dir_all(root.join("state")).unwrap();
        fs::write(root.join("state/audit.jsonl"), "made").unwrap();
        let log = root.join("dev.log");
        sources.outputs.push(id(&File::create(&log).unwrap().metadata().unwrap()));
        fs::write(log, "words").unwrap();
        assert_eq!([sources.changed(), sources.changed()], [false, false], "this program's own output");
        fs::write(root.join("src/a.py"), "22").unwrap();
        assert!(!sources.changed(), "it may still be changing");
        fs::write(root.join("src/a.py"), "333").unwrap();
        assert_eq!([sources.changed(), sources.changed(), sources.changed()], [false, true, false]);
        fs::write(root.join("src/plugins/b.py"), "1").unwrap();
        assert_eq!([sources.changed(), sources.changed()], [false, true], "it is the author's own");
        fs::remove_file(root.join("src/a.py")).unwrap();
        assert_eq!([sources.changed(), sources.changed()], [false, true]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn links_are_followed_without_cycles() {
        let root = std::env::temp_dir().join(format!("portcullis-links-{}", std::process::id()));
        fs::create_dir_all(root.join("project/src")).unwrap();
        fs::create_dir_all(root.join("shared/deep")).unwrap();
        fs::write(root.join("shared/deep/a.py"), "1").unwrap();
        fs::write(root.join("b.py"), "1").unwrap();
        symlink("../../shared", root.join("project/src/shared")).unwrap();
        symlink("../../b.py", root.join("project/src/b.py")).unwrap();
        symlink("..", root.join("shared/round")).unwrap();
        let mut sources = Sources::new(&root.join("project"), &root.join("state"));
        assert_eq!([sources.changed(), sources.changed(), sources.changed()], [false, true, false]);
        for file in ["shared/deep/a.py", "b.py"] {
            fs::write(root.join(file), "22").unwrap();
            assert_eq!([sources.changed(), sources.changed(), sources.changed()], [false, true, false], "{file}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_number_of_files_is_limited_and_linked_files_come_last() {
        let root = std::env::temp_dir().join(format!("portcullis-many-{}", std::process::id()));
        fs::create_dir_all(root.join("project")).unwrap();
        fs::create_dir_all(root.join("shared")).unwrap();
        symlink("../shared", root.join("project/shared")).unwrap();
        for file in ["project/a.py", "project/b.py", "shared/a.py", "shared/b.py", "shared/c.py"] {
            fs::write(root.join(file), "1").unwrap();
        }
        let mut sources = Sources { most: 6, ..Sources::new(&root.join("project"), &root.join("state")) };
        assert!(!sources.changed() && !sources.are_more());
        assert_eq!(sources.last.len(), 5);
        sources.most = 4;
        assert!(!sources.changed() && sources.are_more());
        assert_eq!(sources.last.keys().filter(|file| file.parent() == Some(&root.join("project"))).count(), 2);
        assert_eq!(sources.last.len(), 3);
        fs::remove_dir_all(root).unwrap();
    }
}
