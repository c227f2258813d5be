//! `patch`: patches that are refused, and change nothing.

use portcullis_sdk::prelude::*;

use crate::folder::Folder;
use crate::patch::patched;

/// Returns the text of the failure of a patch on these files.
fn refused_on(files: &[(&str, &str)], patch: &str) -> String {
    let folder = Folder::with(files);
    folder.link("link", "f");
    let Err(failure) = patched(&folder, patch) else { panic!("the patch fits: {patch}") };
    assert!(!failure.text().contains("nothing was changed: nothing was changed"), "{failure}");
    failure.text().to_owned()
}

fn refused(patch: &str) -> String {
    refused_on(&[("f", "a\nb\nc\nb\n"), ("g", "x\n"), ("d/y", "y\n")], patch)
}

fn wrapped(sections: &str) -> String {
    format!("*** Begin Patch\n{sections}\n*** End Patch")
}

#[test]
fn a_hunk_without_a_place_names_file_hunk_line_and_the_nearest_text() {
    let files = [("src/a.rs", "fn main() {\n    let total = count(items);\n    run();\n}\n"), ("b", "1\n")];
    let text = refused_on(
        &files,
        "*** Begin Patch\n*** Update File: b\n@@\n-1\n+2\n*** Update File: src/a.rs\n@@\n fn main() {\n+    start();\n\
         @@\n-    let total = count(&items);\n+    let total = 0;\n@@\n-    RUN();\n+    stop();\n*** End Patch",
    );
    assert_eq!(
        text,
        "nothing was changed: 2 hunks do not fit.\n\n\
         `src/a.rs`, hunk 2 (line 10 of the patch): its old text does not occur; the nearest text is:\n\
         \x20    2\t    let total = count(items);\n\
         The patch expects:\n      \t    let total = count(&items);\n\n\
         `src/a.rs`, hunk 3 (line 13 of the patch): its old text does not occur; the nearest text is:\n\
         \x20    3\t    run();\n\
         The patch expects:\n      \t    RUN();"
    );
}

#[test]
fn a_hunk_that_differs_in_white_space_is_refused() {
    let text = refused_on(&[("f", "if x:\n    y\n")], &wrapped("*** Update File: f\n@@\n if x:\n-  y\n+  z"));
    assert!(text.contains("these lines differ from it in white space only:\n     1\tif x:\n     2\t    y\n"), "{text}");
}

#[test]
fn an_ambiguous_or_misplaced_hunk_is_refused() {
    for (hunks, told) in [
        ("@@\n-b\n+B", "its old text occurs several times, on lines 2, 4; add surrounding lines"),
        ("@@ -3 +3 @@\n-b\n+B", "its old text occurs several times, on lines 2, 4;"),
        (
            "@@\n-c\n+C\n@@\n-a\n+A",
            "hunk 2 (line 6 of the patch): its old text occurs only on line 1, which is not after",
        ),
        ("@@\n a\n-b\n+B\n c\n@@\n c\n-b\n+B", "hunk 2 (line 8 of the patch): its old text occurs only on line 3"),
        ("@@\n+new", "it has no line of the file; add an unchanged line"),
        ("@@ nowhere\n-c\n+C", "no line after the hunk before is equal to `nowhere`"),
        ("@@ b\n+new", "it has no line of the file"),
        ("@@ c\n-a\n+A", "its old text does not occur after its `@@` line"),
        ("@@ b\n-b\n+B", "`b` of its `@@` line occurs several times, on lines 2, 4;"),
        ("@@\n-a\n+A\n*** End of File", "occurs on line 1, but not at the end of the file"),
        ("@@\n-c\n-b\n\\ No newline at end of file\n+x", "the file ends with a newline, and the patch says"),
        ("@@\n-c\n+C\n\\ No newline at end of file", "occurs on line 3, but not at the end of the file"),
        ("@@\n     1\ta\n-     2\tb\n+x", "leave out the line numbers"),
        ("@@\n a\n b", "the hunks of `f` change nothing"),
        ("@@\n-a\n+a", "the hunks of `f` change nothing"),
    ] {
        let text = refused(&wrapped(&format!("*** Update File: f\n{hunks}")));
        assert!(text.contains(told), "{hunks}:\n{text}");
    }
}

#[test]
fn a_patch_that_cannot_be_read_names_the_line() {
    for (patch, line, told) in [
        ("", 1, "the patch is empty"),
        ("\n \n", 1, "the patch is empty"),
        ("some text", 1, "expected `--- PATH`"),
        ("```diff\n--- f\n+++ f\n", 1, "expected `--- PATH`"),
        ("*** Begin Patch\n*** End Patch", 1, "names no file"),
        ("*** Begin Patch\n*** Delete File: f", 3, "does not end with `*** End Patch`"),
        ("*** Begin Patch\n*** Delete File: f\n*** End Patch\nmore", 4, "text follows"),
        ("*** Begin Patch\n*** Remove File: f\n*** End Patch", 2, "expected `*** Add File: PATH`"),
        ("*** Begin Patch\n*** Add File: n\nno mark\n*** End Patch", 3, "expected `*** Add File: PATH`"),
        ("*** Begin Patch\n*** Update File: f\n*** End Patch", 2, "has no hunk"),
        ("*** Begin Patch\n*** Update File: f\n@@\n*** End Patch", 3, "the hunk has no lines"),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\nb\n*** End Patch", 5, "expected `*** Add File: PATH`"),
        ("--- f\n@@ -1 +1 @@\n", 2, "expected `+++ PATH`"),
        ("--- f\n+++ f\n", 1, "has no hunk"),
        ("--- f\n+++ f\n@@ 1,2 @@\n-a\n", 3, "expected line numbers"),
        ("--- f\n+++ f\n@@ -1,99999999999999999999999 +1 @@\n-a\n", 3, "expected line numbers"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n", 3, "the hunk has no lines"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n\\ No newline at end of file\n", 4, "must follow a line of a hunk"),
        ("--- f\n+++ f\n@@\n-a\n\\ No newline at end of file\n-b\n", 6, "only the last line can be"),
        ("--- f\n+++ f\n@@\n-a\nstray\n", 5, "expected `--- PATH`"),
        ("--- f\n+++ g\n@@\n-a\n", 1, "are two files; to rename, add `rename from PATH`"),
        ("--- /dev/null\n+++ /dev/null\n@@\n-a\n", 1, "both names are `/dev/null`"),
        ("--- /dev/null\n+++ n\n@@\n+a\n-b\n", 3, "a new file has one hunk, whose lines all begin with `+`"),
        ("--- f\n+++ /dev/null\n@@\n-a\n b\n", 3, "a deleted file has one hunk, whose lines all begin with `-`"),
        ("--- \"f\\303\"\n+++ \"f\\303\"\n@@\n-a\n", 1, "is quoted"),
        ("diff --git a/f b/f\n", 1, "has no hunk"),
        ("diff --git a/f b/g\n", 1, "has no hunk"),
        ("diff --git é\n", 1, "has no hunk"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", 2, "file modes cannot be changed"),
        (
            "diff --git a/n b/n\nnew file mode 120000\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+f\n",
            2,
            "can only be 100644",
        ),
        ("diff --git a/f b/n\ncopy from f\ncopy to n\n", 2, "copies are not supported"),
        ("diff --git a/f b/f\nindex 1..2\nBinary files a/f and b/f differ\n", 3, "binary files cannot be patched"),
        ("diff --git a/f b/n\nrename from f\n", 1, "belong together"),
        ("diff --git a/f b/f\nrename from f\nrename to f\n", 1, "renamed to itself"),
    ] {
        let text = refused(patch);
        let start = format!("nothing was changed: line {line} of the patch: ");
        assert!(text.starts_with(&start) && text.contains(told), "{patch:?}:\n{text}");
    }
}

#[test]
fn a_path_out_of_the_workspace_is_refused_in_every_place() {
    for path in ["/etc/passwd", "../x", "d/../f", "d/../../x", "d\\y", "\u{1b}[31m", "", ".", "link", "link/x"] {
        for patch in [
            wrapped(&format!("*** Add File: {path}\n+x")),
            wrapped(&format!("*** Delete File: {path}")),
            wrapped(&format!("*** Update File: {path}\n@@\n-a\n+b")),
            wrapped(&format!("*** Update File: g\n*** Move to: {path}")),
            format!("--- {path}\n+++ {path}\n@@\n-a\n+b\n"),
            format!("--- /dev/null\n+++ {path}\n@@\n+b\n"),
            format!("--- {path}\n+++ /dev/null\n@@\n-a\n"),
            format!("diff --git a/g b/n\nrename from g\nrename to {path}\n"),
            format!("diff --git a/g b/n\nrename from {path}\nrename to n\n"),
        ] {
            refused(&patch);
        }
    }
}

#[test]
fn files_in_each_others_way_are_refused() {
    for (sections, told) in [
        ("*** Update File: f\n@@\n-a\n+A\n*** Update File: ./f\n@@\n-c\n+C", "`f` is named on line 2 already"),
        ("*** Delete File: f\n*** Add File: f\n+x", "`f` is named on line 2 already"),
        ("*** Update File: f\n*** Move to: g\n*** Update File: g\n@@\n-x\n+X", "`g` is named on line 2 already"),
        ("*** Update File: g\n@@\n-x\n+X\n*** Update File: f\n*** Move to: g", "`g` is named on line 2 already"),
        ("*** Update File: f\n*** Move to: g\n*** Update File: g\n*** Move to: f", "is named on line 2 already"),
        ("*** Update File: f\n*** Move to: f\n@@\n-a\n+A", "`f` is named on line 2 already"),
        ("*** Add File: n\n+x\n*** Add File: n/m\n+x", "cannot both be files"),
        ("*** Delete File: g\n*** Add File: g/m\n+x", "cannot both be files"),
        ("*** Update File: f\n*** Move to: f/f", "cannot both be files"),
        ("*** Add File: f\n+x", "`f` exists already"),
        ("*** Update File: f\n*** Move to: g", "`g` exists already"),
        ("*** Add File: d\n+x", "`d` is a directory"),
        ("*** Delete File: d", "`d` is a directory"),
        ("*** Update File: f\n*** Move to: d", "`d` is a directory"),
        ("*** Add File: g/m\n+x", "a file"),
        ("*** Delete File: ff", "`ff` does not exist; `.` has d/, f, g, link"),
        ("*** Update File: none\n@@\n-a\n+b", "`none` does not exist"),
        ("*** Delete File: link", "use `f`"),
    ] {
        let text = refused(&wrapped(sections));
        assert!(text.starts_with("nothing was changed: ") && text.contains(told), "{sections}:\n{text}");
    }
}

#[test]
fn a_deletion_must_show_all_of_the_file() {
    for hunk in ["-a\n-b\n-c\n", "-a\n-b\n-c\n-b\n-d\n", "-a\n-b\n-c\n-b\n\\ No newline at end of file\n"] {
        let text = refused(&format!("--- f\n+++ /dev/null\n@@\n{hunk}"));
        assert!(text.contains("`f` has other content than the patch deletes"), "{text}");
    }
    let text = refused("diff --git a/f b/f\ndeleted file mode 100644\n");
    assert!(text.contains("`f` has other content than the patch deletes"), "{text}");
}

#[test]
fn a_file_that_is_not_text_is_not_updated() {
    for content in [&b"a\n\xe9\n"[..], b"a\n\0\n"] {
        let folder = Folder::new();
        folder.put("f", content);
        let failure = folder.call("patch", json!({ "patch": wrapped("*** Update File: f\n@@\n-a\n+b") })).unwrap_err();
        assert!(failure.text().contains("`f` is not "), "{failure}");
    }
}

#[test]
fn a_patch_with_too_much_of_anything_is_refused() {
    let files = |count: usize| -> String { (0..count).map(|number| format!("*** Add File: n{number}\n")).collect() };
    assert!(refused(&wrapped(files(33).trim_end())).contains("more than 32 changed files"));
    assert!(refused(&wrapped(files(30_000).trim_end())).contains("more than 32 changed files"));
    let renames: String =
        (0..17).map(|number| format!("*** Update File: o{number}\n*** Move to: n{number}\n")).collect();
    assert!(refused(&wrapped(renames.trim_end())).contains("more than 32 changed files"));
    let hunks = "@@\n-zz\n+y\n".repeat(1_001);
    assert!(refused(&wrapped(&format!("*** Update File: f\n{hunks}"))).contains("more than 1000 hunks"));
    assert!(refused(&format!("{}\n", "x".repeat(1024 * 1024))).contains("is larger than 1048576 bytes"));
    let large = "x\n".repeat(1024 * 1024 + 10);
    let names = ["l1", "l2", "l3", "l4", "l5"];
    let section = |name: &&str| format!("*** Update File: {name}\n@@\n x\n+y\n*** End of File\n");
    let sections: String = names.iter().map(section).collect();
    let text = refused_on(&names.map(|name| (name, large.as_str())), &wrapped(sections.trim_end()));
    assert!(text.contains("have more than 8388608 bytes in all"), "{text}");
}

#[test]
fn an_error_about_many_or_large_hunks_is_short() {
    let hunks: String = (0..1_000).map(|number| format!("@@\n-{number}{}\n+y\n", "z".repeat(900))).collect();
    let text = refused(&wrapped(&format!("*** Update File: f\n{hunks}")));
    assert!(text.contains("1000 hunks do not fit") && text.ends_with("(990 hunks more)"), "{text}");
    assert!(text.len() < 10_000, "{}", text.len());
    let lines = "-q\n".repeat(100_000);
    let text = refused(&wrapped(&format!("*** Update File: f\n@@\n{lines}")));
    assert!(text.contains("(and 99988 lines more)") && text.len() < 2_000, "{text}");
}

#[test]
fn hunks_of_equal_lines_take_no_quadratic_time() {
    let content = "x\n".repeat(100_000);
    let hunks = format!("@@\n{}-y\n+z\n", " x\n".repeat(3_000)).repeat(80);
    let start = std::time::Instant::now();
    let text = refused_on(&[("f", &content)], &wrapped(&format!("*** Update File: f\n{hunks}")));
    assert!(text.contains("80 hunks do not fit"), "{text}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn claimed_numbers_of_any_size_are_harmless() {
    let text = refused(&format!("--- f\n+++ f\n@@ -{0},{0} +{0},{0} @@\n-b\n+B\n", usize::MAX));
    assert!(text.contains("occurs several times"), "{text}");
    let text = refused(&format!("--- f\n+++ f\n@@ -0,1 +{},1 @@\n-b\n+B\n", usize::MAX));
    assert!(text.contains("occurs several times"), "{text}");
}

#[test]
fn a_cancelled_patch_changes_nothing() {
    let folder = Folder::with(&[("f", "a\n")]);
    let context = folder.context().cancelled();
    let patch = json!({ "patch": wrapped("*** Delete File: f") });
    assert_eq!(crate::folder::call("patch", patch, &context).unwrap_err(), Failure::Cancelled);
    assert_eq!(folder.names(""), ["f"]);
}

#[test]
fn a_write_that_fails_leaves_every_file_as_it_was() {
    // The temporary names of `b` are all taken, so its old content cannot be kept.
    let folder = Folder::with(&[("a", "1\n"), ("b", "1\n")]);
    for number in 0..64 {
        folder.put(&format!(".b.{number}.part"), b"");
    }
    let before = folder.tree();
    let patch = "*** Add File: new/n\n+x\n*** Update File: a\n@@\n-1\n+2\n*** Update File: b\n@@\n-1\n+2";
    let failure = folder.call("patch", json!({ "patch": wrapped(patch) })).unwrap_err();
    assert!(failure.text().starts_with("nothing was changed: ") && failure.text().contains("remove them"), "{failure}");
    assert_eq!(folder.tree(), before);
    assert!(!folder.path("new").exists());
}
