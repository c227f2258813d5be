//! Commits on a disk in memory that fails at each step.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// How long a disk fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failing {
    Once,
    FromThenOn,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Content {
    files: BTreeMap<String, String>,
    directories: BTreeSet<String>,
}

struct FailingDisk {
    content: RefCell<Content>,
    steps: Cell<usize>,
    fails_at: usize,
    failing: Failing,
}

impl FailingDisk {
    fn new(fails_at: usize, failing: Failing) -> Self {
        let text = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
        let files = [("updated", "u1"), ("moved", "m1"), ("edited", "e1"), ("deleted", "d1")].map(text).into();
        let content = Content { files, directories: BTreeSet::new() };
        Self { content: RefCell::new(content), steps: Cell::new(0), fails_at, failing }
    }

    fn step(&self) -> io::Result<()> {
        let step = self.steps.replace(self.steps.get() + 1);
        let fails = match self.failing {
            Failing::Once => step == self.fails_at,
            Failing::FromThenOn => step >= self.fails_at,
        };
        if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn take(&self, place: &Place) -> io::Result<String> {
        self.content.borrow_mut().files.remove(place.path()).ok_or(io::ErrorKind::NotFound.into())
    }
}

impl Disk for FailingDisk {
    fn create_directory(&self, place: &Place) -> io::Result<bool> {
        self.step()?;
        Ok(self.content.borrow_mut().directories.insert(place.path().to_owned()))
    }

    fn stage(&self, beside: &Place, content: &[u8]) -> io::Result<Place> {
        self.step()?;
        let temporary = beside.sibling(&format!(".{}.0.part", beside.name()));
        let content = String::from_utf8(content.to_vec()).unwrap();
        let replaced = self.content.borrow_mut().files.insert(temporary.path().to_owned(), content);
        assert_eq!(replaced, None);
        Ok(temporary)
    }

    fn check_writable(&self, place: &Place) -> io::Result<()> {
        assert!(self.content.borrow().files.contains_key(place.path()));
        self.step()
    }

    fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
        self.step()?;
        let content = self.take(from)?;
        let replaced = self.content.borrow_mut().files.insert(to.path().to_owned(), content);
        assert_eq!(replaced, None, "{to:?} existed");
        Ok(())
    }

    fn rename_over(&self, from: &Place, temporary: &Place) -> io::Result<()> {
        self.step()?;
        let content = self.take(from)?;
        self.content.borrow_mut().files.insert(temporary.path().to_owned(), content);
        Ok(())
    }

    fn overwrite(&self, place: &Place, content: &[u8]) -> io::Result<()> {
        let failed = self.step();
        let content = if failed.is_err() { b"a part" } else { content };
        let content = String::from_utf8(content.to_vec()).unwrap();
        let replaced = self.content.borrow_mut().files.insert(place.path().to_owned(), content);
        assert!(replaced.is_some(), "{place:?} did not exist");
        failed
    }

    fn remove(&self, place: &Place) -> io::Result<()> {
        self.step()?;
        self.take(place).map(drop)
    }

    fn remove_directory(&self, place: &Place) -> io::Result<()> {
        self.step()?;
        let mut content = self.content.borrow_mut();
        if content.files.keys().any(|path| path.starts_with(&format!("{}/", place.path()))) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        assert!(content.directories.remove(place.path()));
        Ok(())
    }
}

fn changes() -> Vec<Change> {
    let place = |path: &str| Place::parse(path).unwrap();
    let text = |old: &str, new: &str| {
        let (old, new) = (old.to_owned(), new.to_owned());
        NewText { old, new, hunk_lines: Vec::new(), lines_added: 0, lines_removed: 0 }
    };
    let rename = |to, text| Effect::Rename { to: place(to), text };
    let change = |path: &str, effect| Change { place: place(path), effect };
    vec![
        change("new/a/added", Effect::Add { content: "a2".to_owned() }),
        change("updated", Effect::Update(text("u1", "u2"))),
        change("moved", rename("new/b/moved", None)),
        change("edited", rename("new/b/edited", Some(text("e1", "e2")))),
        change("deleted", Effect::Delete),
    ]
}

/// Returns how many steps a commit without a failure makes before it is complete.
fn steps_of_a_commit() -> usize {
    let disk = FailingDisk::new(usize::MAX, Failing::Once);
    let leftovers = commit(&disk, &changes()).unwrap();
    assert_eq!(leftovers, []);
    let files: Vec<(String, String)> = disk.content.borrow().files.clone().into_iter().collect();
    let text = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
    let after = [("new/a/added", "a2"), ("new/b/edited", "e2"), ("new/b/moved", "m1"), ("updated", "u2")];
    assert_eq!(files, after.map(text));
    // Three temporary files are removed at the end, when all changes are made.
    disk.steps.get() - 3
}

#[test]
fn a_commit_that_fails_at_any_step_changes_nothing() {
    let before = FailingDisk::new(0, Failing::Once).content.into_inner();
    for fails_at in 0..steps_of_a_commit() {
        let disk = FailingDisk::new(fails_at, Failing::Once);
        let error = commit(&disk, &changes()).unwrap_err();
        assert_eq!(error.remains, [""; 0], "step {fails_at}");
        assert_eq!(disk.content.into_inner(), before, "step {fails_at}");
    }
}

#[test]
fn a_temporary_file_that_cannot_be_removed_is_returned() {
    let steps = steps_of_a_commit();
    for fails_at in steps..steps + 3 {
        let leftovers = commit(&FailingDisk::new(fails_at, Failing::Once), &changes()).unwrap();
        assert_eq!(leftovers.len(), 1, "step {fails_at}");
    }
}

#[test]
fn what_cannot_be_undone_is_reported_exactly_and_loses_no_content() {
    for fails_at in 0..steps_of_a_commit() {
        let disk = FailingDisk::new(fails_at, Failing::FromThenOn);
        let error = commit(&disk, &changes()).unwrap_err();
        let content = disk.content.into_inner();
        let report = error.remains.join("\n");
        for old in ["u1", "m1", "e1", "d1"] {
            assert!(content.files.values().any(|text| text == old), "step {fails_at} lost {old}: {content:?}");
        }
        let before = FailingDisk::new(0, Failing::Once).content.into_inner();
        let changed = content.files.iter().filter(|(path, text)| before.files.get(*path) != Some(text));
        for (path, text) in changed {
            assert!(report.contains(&format!("`{path}`")), "step {fails_at}, {path} ({text}):\n{report}");
        }
        for path in before.files.keys().filter(|path| !content.files.contains_key(*path)) {
            assert!(report.contains(&format!("`{path}` is now `")), "step {fails_at}, {path}:\n{report}");
        }
        for path in &content.directories {
            assert!(report.contains(&format!("`{path}`")), "step {fails_at}, {path}:\n{report}");
        }
    }
}
