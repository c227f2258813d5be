//! What a project is made of, and whether it has changed.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders that a build or an editor fills, wherever they are: nobody writes sources there.
const MADE: [&str; 7] = ["node_modules", "target", "__pycache__", "zig-out", "zig-cache", "venv", "dist"];

/// Folders of a project that hold no sources; deeper down, they are the author's own.
const NO_SOURCES_AT_TOP: [&str; 2] = ["plugins", "tests"];

/// Files that say what the plugin may, and not what it is.
const POLICY: &str = "portcullis.toml";

/// The most files that are looked at: more than a project of tools has, and few enough to be looked at in a moment.
const FILES_MAX: usize = 20_000;

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

    fn from(metadata: &std::fs::Metadata) -> Self {
        Self { modified: metadata.modified().ok(), bytes: metadata.len(), inode: metadata.ino() }
    }
}

type Snapshot = BTreeMap<PathBuf, Stamp>;

/// The sources of a project.
pub(super) struct Sources {
    root: PathBuf,
    /// As they were when somebody was last told of a change.
    told: Snapshot,
    /// As they were at the last look.
    last: Snapshot,
}

impl Sources {
    /// Those below a folder. All of them are new.
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), told: Snapshot::new(), last: Snapshot::new() }
    }

    /// Looks, and says whether they have changed and are quiet: as they were at the look before.
    pub(super) fn changed(&mut self) -> bool {
        let mut now = Snapshot::new();
        collect(&self.root, true, &mut now);
        let quiet = now == self.last;
        self.last = now;
        if quiet && self.last != self.told {
            self.told.clone_from(&self.last);
            return true;
        }
        false
    }
}

/// Notes the files below a folder, which is that of the project or one in it. What cannot be read is not there.
#[expect(clippy::disallowed_methods, reason = "the person's own project, watched for them")]
fn collect(folder: &Path, at_top: bool, into: &mut Snapshot) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') || name == POLICY || into.len() >= FILES_MAX {
            continue;
        }
        if kind.is_dir() {
            let name = name.as_ref();
            if !(MADE.contains(&name) || at_top && NO_SOURCES_AT_TOP.contains(&name)) {
                collect(&entry.path(), false, into);
            }
        } else if let Ok(metadata) = entry.metadata() {
            into.insert(entry.path(), Stamp::from(&metadata));
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test lays out a project")]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_change_is_told_once_and_when_it_is_quiet() {
        let root = std::env::temp_dir().join(format!("portcullis-sources-{}", std::process::id()));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("plugins")).unwrap();
        fs::create_dir_all(root.join("src/plugins")).unwrap();
        fs::write(root.join("src/a.py"), "1").unwrap();
        let mut sources = Sources::new(&root);
        assert_eq!([sources.changed(), sources.changed(), sources.changed()], [false, true, false]);
        for made in ["plugins/a.wasm", ".hidden", "portcullis.toml"] {
            fs::write(root.join(made), "made").unwrap();
            assert_eq!([sources.changed(), sources.changed()], [false, false], "{made}");
        }
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
}
