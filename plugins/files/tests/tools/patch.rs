//! `patch`: patches that fit.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use portcullis_plugin_files::PLUGIN;
use portcullis_sdk::prelude::*;
use portcullis_sdk::testing;

use crate::folder::{Answer, Folder};

/// Calls the tool. The preview must claim exactly what the call does.
pub(crate) fn patched(folder: &Folder, patch: &str) -> Result<Answer, Failure> {
    let arguments = json!({ "patch": patch });
    let preview = testing::preview(&PLUGIN, "patch", arguments.clone(), &folder.context());
    let before = folder.tree();
    let answer = folder.call("patch", arguments);
    match (preview, &answer) {
        (Ok(changes), Ok(_)) => {
            let mut claimed = before;
            for FileChange { directory, path, content } in changes {
                assert_eq!(directory, "workspace");
                let Some(content) = content else {
                    assert!(claimed.remove(&path).is_some(), "{path}");
                    continue;
                };
                claimed.insert(path, content);
            }
            assert_eq!(folder.tree(), claimed, "{patch}");
        }
        (preview, Err(failure)) => {
            assert_eq!(preview.as_ref(), Err(failure), "{patch}");
            assert_eq!(folder.tree(), before, "{patch}");
        }
        (Err(failure), Ok(_)) => panic!("only the preview fails: {failure:?}\n{patch}"),
    }
    answer
}

/// Returns the content of the file `f` after a patch.
fn one(before: &str, patch: &str) -> String {
    let folder = Folder::with(&[("f", before)]);
    patched(&folder, patch).unwrap_or_else(|failure| panic!("{failure}\n{patch}"));
    assert_eq!(folder.names(""), ["f"], "nothing else is left behind");
    folder.get("f")
}

fn update(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

fn unified(hunks: &str) -> String {
    format!("--- f\n+++ f\n{hunks}\n")
}

#[test]
fn several_files_are_changed_in_one_step() {
    let folder = Folder::with(&[("src/a.rs", "one\ntwo\nthree\n"), ("b", "x\n"), ("c", "y\nz\n"), ("d", "q\n")]);
    let answer = patched(
        &folder,
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n one\n-two\n+2\n three\n*** Add File: new/deep/n\n+n1\n+\n+n3\n\
         *** Delete File: b\n*** Update File: c\n*** Move to: moved/c\n@@\n y\n-z\n+Z\n*** Update File: d\n\
         *** Move to: e\n*** End Patch\n",
    )
    .unwrap();
    let after = [("e", "q\n"), ("moved/c", "y\nZ\n"), ("new/deep/n", "n1\n\nn3\n"), ("src/a.rs", "one\n2\nthree\n")];
    assert_eq!(folder.tree(), after.map(|(path, text)| (path.to_owned(), text.to_owned())).into());
    assert_eq!(
        answer.text,
        "Updated `src/a.rs` (+1 -1, at line 1).\nAdded `new/deep/n` (3 lines).\nDeleted `b`.\n\
         Renamed `c` to `moved/c` (+1 -1, at line 1).\nRenamed `d` to `e`.\n"
    );
    assert_eq!(answer.title, "Patched 5 files");
    assert_eq!(
        answer.metadata["files"][3],
        json!({ "path": "moved/c", "renamed_from": "c", "change": "renamed", "bytes": 4, "lines_added": 1, "lines_removed": 1 })
    );
}

#[test]
fn a_patch_of_git_is_applied() {
    let folder = Folder::with(&[("src/a.rs", "1\n2\n3\n4\n"), ("old", "x\ny"), ("gone", "-- x\n"), ("empty", "")]);
    patched(
        &folder,
        "diff --git a/src/a.rs b/src/a.rs\nindex 94ebaf9..f9e2cd0 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
         @@ -1,3 +1,4 @@ fn header() {\n 1\n 2\n+2½\n 3\n\
         diff --git a/old b/new\nsimilarity index 60%\nrename from old\nrename to new\nindex 1..2 100644\n\
         --- a/old\n+++ b/new\n@@ -1,2 +1,2 @@\n-x\n+X\n y\n\\ No newline at end of file\n\
         diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n--- a/gone\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n--- x\n\
         diff --git a/sub/n b/sub/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/sub/n\n\
         @@ -0,0 +1,2 @@\n+a\n+b\n\
         \\ No newline at end of file\n\
         diff --git a/blank b/blank\nnew file mode 100644\nindex 0..0\n\
         diff --git a/empty b/empty\ndeleted file mode 100644\nindex 0..0\n",
    )
    .unwrap();
    let after = [("blank", ""), ("new", "X\ny"), ("src/a.rs", "1\n2\n2½\n3\n4\n"), ("sub/n", "a\nb")];
    assert_eq!(folder.tree(), after.map(|(path, text)| (path.to_owned(), text.to_owned())).into());
}

#[test]
fn a_difference_that_edit_shows_is_applied() {
    let before: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let edited = Folder::with(&[("f", &before)]);
    let edits = json!([{ "old": "\n5\n", "new": "\nfive\n5½\n" }, { "old": "20\n", "new": "20" }]);
    let difference = edited.call("edit", json!({ "path": "f", "edits": edits })).unwrap().text;
    assert_eq!(one(&before, &difference), edited.get("f"));
}

#[test]
fn names_have_prefixes_only_if_all_have_them() {
    let folder = Folder::with(&[("a/x", "1\n"), ("y", "1\n")]);
    patched(&folder, "--- a/x\t2026-01-01 00:00:00\n+++ a/x\t2026-01-02\n@@ -1 +1 @@\n-1\n+2\n").unwrap();
    assert_eq!(folder.get("a/x"), "2\n");
    patched(&folder, "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n").unwrap();
    assert_eq!(folder.get("y"), "2\n");
}

#[test]
fn line_numbers_are_hints() {
    let before = "a\nb\nc\nd\ne\n";
    for numbers in ["-3,1 +3,1", "-1 +1", "-400,9 +9,12", "-2,3 +2,2"] {
        assert_eq!(one(before, &unified(&format!("@@ {numbers} @@\n-c\n+C"))), "a\nb\nC\nd\ne\n", "{numbers}");
    }
    assert_eq!(one(before, &unified("@@\n b\n-c\n+C\n@@\n-e\n+E")), "a\nb\nC\nd\nE\n");
    assert_eq!(one("x\n1\nx\n2\nx\n", &unified("@@ -3 +3 @@\n-x\n+y")), "x\n1\ny\n2\nx\n", "an exact number decides");
}

#[test]
fn a_header_chooses_between_equal_lines() {
    let before = "class A:\n  def f(self):\n    return 1\n  def g(self):\n    return 1\nclass B:\n  def f(self):\n    return 1\n";
    let changed = |hunk: &str| {
        let after = one(before, &update(hunk));
        after.lines().position(|line| line.contains('2')).unwrap() + 1
    };
    let change = "-    return 1\n+    return 2";
    assert_eq!(changed(&format!("@@   def g(self):\n{change}")), 5);
    assert_eq!(changed(&format!("@@ def g(self):\n   def g(self):\n{change}")), 5);
    assert_eq!(changed(&format!("@@ class A:\n@@ def f(self):\n{change}")), 3);
    assert_eq!(changed(&format!("@@ class B:\n@@ def f(self):\n{change}")), 8);
    assert_eq!(changed(&format!("@@ class B:\n{change}")), 8);
    assert_eq!(changed(&format!("@@ def f(self):\n class B:\n   def f(self):\n{change}")), 8, "unique lines decide");
}

#[test]
fn the_first_hunk_needs_no_header_and_blank_lines_are_context() {
    assert_eq!(one("a\n\nb\n", &update(" a\n\n-b\n+B")), "a\n\nB\n");
    assert_eq!(one("a\n\nb\n", &unified("@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n")), "a\n\nB\n");
    assert_eq!(one("a\n\nb\n", &unified("@@\n a\n\n-b\n+B\n\n")), "a\n\nB\n");
}

#[test]
fn lines_that_look_like_names_are_content() {
    assert_eq!(one("-- a\nx\n", &unified("@@ -1,2 +1,2 @@\n--- a\n+++ a\n x")), "++ a\nx\n");
    assert_eq!(one("-- a\nx\n", &update("@@\n--- a\n+++ a\n x")), "++ a\nx\n");
    assert_eq!(one("*** End Patch\nx\n", &update("@@\n *** End Patch\n-x\n+y")), "*** End Patch\ny\n");
}

#[test]
fn the_end_of_a_file_can_be_named() {
    assert_eq!(one("a\nb\na\n", &update("@@\n-a\n+A\n*** End of File")), "a\nb\nA\n");
    assert_eq!(one("a\n", &update("@@\n+b\n*** End of File")), "a\nb\n");
    assert_eq!(one("", &update("@@\n+b")), "b\n");
    assert_eq!(one("", &unified("@@ -0,0 +1 @@\n+b")), "b\n");
}

#[test]
fn a_final_newline_is_kept_unless_the_patch_changes_it() {
    let none = "\\ No newline at end of file";
    let cases = [
        ("a\nb", "@@\n-b\n+c".to_owned(), "a\nc"),
        ("a\nb", "@@\n b\n+c".to_owned(), "a\nb\nc"),
        ("a\nb", "@@\n a\n-b".to_owned(), "a"),
        ("a\nb", format!("@@ -1,2 +1,2 @@\n a\n-b\n{none}\n+b"), "a\nb\n"),
        ("a\nb\n", format!("@@ -1,2 +1,2 @@\n a\n-b\n+b\n{none}"), "a\nb"),
        ("a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{none}"), "A\nb"),
        ("a\nb", format!("@@ -1,2 +1,3 @@\n a\n-b\n{none}\n+b\n+c\n{none}"), "a\nb\nc"),
        ("a\nb\n", "@@\n-a\n-b".to_owned(), ""),
        ("a", "@@\n-a".to_owned(), ""),
    ];
    for (before, hunk, after) in cases {
        assert_eq!(one(before, &unified(&hunk)), after, "{before:?} {hunk:?}");
    }
}

#[test]
fn line_endings_and_byte_order_marks_of_a_file_are_kept() {
    let hunk = update("@@\n a\n-b\n+x\n+y\n c");
    for (before, after) in [
        ("a\r\nb\r\nc\r\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\nc", "a\r\nx\r\ny\r\nc"),
        ("a\r\nb\nc\r\n", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\nb\r\nc\n", "a\nx\ny\nc\n"),
        ("\u{feff}a\nb\nc\n", "\u{feff}a\nx\ny\nc\n"),
    ] {
        assert_eq!(one(before, &hunk), after, "{before:?}");
        assert_eq!(one(before, &hunk.replace('\n', "\r\n")), after, "{before:?}, a patch with CRLF");
    }
    assert_eq!(one("\u{feff}a\n", &update("@@\n-a\n+b")), "\u{feff}b\n");
}

#[test]
fn an_updated_or_renamed_file_stays_the_same_file() {
    let folder = Folder::with(&[("run.sh", "old\n"), ("moved.sh", "old\n")]);
    let status = |path: &str| folder.path(path).symlink_metadata().map(|status| (status.ino(), status.mode())).unwrap();
    for path in ["run.sh", "moved.sh"] {
        std::fs::set_permissions(folder.path(path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let before = (status("run.sh"), status("moved.sh"));
    patched(
        &folder,
        "*** Begin Patch\n*** Update File: run.sh\n@@\n-old\n+new\n*** Update File: moved.sh\n*** Move to: d/moved.sh\n\
         @@\n-old\n+new\n*** End Patch",
    )
    .unwrap();
    assert_eq!((status("run.sh"), status("d/moved.sh")), before);
}

#[test]
fn binary_files_can_be_deleted_and_renamed() {
    let folder = Folder::new();
    folder.put("image", b"\x89PNG\xff");
    folder.put("other", b"\x89PNG\xff");
    let patch = "*** Begin Patch\n*** Delete File: image\n*** Update File: other\n*** Move to: moved\n*** End Patch";
    let arguments = json!({ "patch": patch });
    let failure = testing::preview(&PLUGIN, "patch", arguments.clone(), &folder.context()).unwrap_err();
    assert_eq!(failure, Failure::failed("`other` is not a text file; it looks like a PNG image"));
    folder.call("patch", arguments).unwrap();
    assert_eq!(folder.names(""), ["moved"]);
}
