//! What a project is made of, and whether it has changed.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{stderr, stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders that a build or an editor fills, wherever they are: nobody writes sources there.
const MADE: [&str; 7] = ["node_modules", "target", "__pycache__", "zig-out", "zig-cache", "venv", "dist"];

/// Folders of a project that hold no sources; deeper down, they are the author's own.
const NO_SOURCES_AT_TOP: [&str; 2] = ["plugins", "tests"];

/// Files that say what the plugin may, and not what it is.
const POLICY: &str = "portcullis.toml";

/// The most files and folders that are looked at: more than a project of tools has, and few enough to be looked at in a
/// moment, wherever a link leads.
pub(super) const FILES_MAX: usize = 20_000;

/// What can be seen of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

impl Stamp {
    /// That of a file; nothing where there is none.
    #[expect(clippy::disallowed_methods, reason = "the person's own project, watched for them")]
    pub(super) fn of(file: &Path) -> Option<Self> {
        std::fs::metadata(file).ok().map(|metadata| Self::from(&metadata))
    }

    fn from(metadata: &Metadata) -> Self {
        Self { modified: metadata.modified().ok(), bytes: metadata.len(), inode: metadata.ino() }
    }
}

type Snapshot = BTreeMap<PathBuf, Stamp>;

/// What tells a file from every other: where it is kept, and its number there.
type Id = (u64, u64);

/// The sources of a project.
pub(super) struct Sources {
    root: PathBuf,
    /// A folder that this program fills, in the project or not.
    state: PathBuf,
    /// The files that its own words go to: a build that is told of would be a change.
    outputs: Vec<Id>,
    /// The most files and folders that are looked at.
    most: usize,
    /// Whether there are more.
    are_more: bool,
    /// As they were when somebody was last told of a change.
    told: Snapshot,
    /// As they were at the last look.
    last: Snapshot,
}

impl Sources {
    /// Those below a folder, but for the state folder of this program. All of them are new.
    pub(super) fn new(root: &Path, state: &Path) -> Self {
        Self {
            root: root.to_owned(),
            state: state.to_owned(),
            outputs: outputs(),
            most: FILES_MAX,
            are_more: false,
            told: Snapshot::new(),
            last: Snapshot::new(),
        }
    }

    /// Looks, and says whether they have changed and are quiet: as they were at the look before.
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

    /// Whether there are more than are looked at.
    pub(super) fn are_more(&self) -> bool {
        self.are_more
    }

    /// The files below the project's folder, and below those that links lead to. What cannot be read is not there.
    #[expect(clippy::disallowed_methods, reason = "the person's own project, watched for them")]
    fn collect(&mut self) -> Snapshot {
        let (mut files, mut looked) = (Snapshot::new(), 0);
        // A folder is looked at once: links may lead round in a circle.
        let apart = [&self.root, &self.state].into_iter().flat_map(std::fs::metadata);
        let mut known: HashSet<Id> = apart.map(|metadata| id(&metadata)).collect();
        // What is behind links comes last: it may be much, and has what is left.
        let (mut folders, mut linked) = (vec![self.root.clone()], Vec::new());
        while looked <= self.most
            && let Some(folder) = folders.pop().or_else(|| linked.pop())
        {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            for entry in entries.flatten().filter(|entry| is_source(folder == self.root, &entry.file_name())) {
                let (path, is_link) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_symlink()));
                // Of what a link leads to, not of the link.
                let Ok(metadata) = std::fs::metadata(&path) else { continue };
                looked += 1;
                if looked > self.most {
                    break;
                }
                if self.outputs.contains(&id(&metadata)) {
                    continue;
                }
                if !metadata.is_dir() {
                    files.insert(path, Stamp::from(&metadata));
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

/// The files behind this program's standard output and standard error, where they are files.
fn outputs() -> Vec<Id> {
    let of = |stream: BorrowedFd<'_>| File::from(stream.try_clone_to_owned()?).metadata();
    let found = [of(stdout().as_fd()), of(stderr().as_fd())];
    found.into_iter().flatten().filter(Metadata::is_file).map(|metadata| id(&metadata)).collect()
}

/// Whether something of this name in a folder is looked at.
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
    fn a_change_is_told_once_and_when_it_is_quiet() {
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
        assert_eq!([sources.changed(), sources.changed()], [false, false], "this program's own");
        fs::write(root.join("src/a.py"), "22").unwrap();
        assert!(!sources.changed(), "it may go on changing");
        fs::write(root.join("src/a.py"), "333").unwrap();
        assert_eq!([sources.changed(), sources.changed(), sources.changed()], [false, true, false]);
        fs::write(root.join("src/plugins/b.py"), "1").unwrap();
        assert_eq!([sources.changed(), sources.changed()], [false, true], "it is the author's own");
        fs::remove_file(root.join("src/a.py")).unwrap();
        assert_eq!([sources.changed(), sources.changed()], [false, true]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_link_is_followed_and_not_in_a_circle() {
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
    fn no_more_than_a_number_of_files_is_looked_at_and_those_behind_links_last() {
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
