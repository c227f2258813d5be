//! `list`

use portcullis_sdk::prelude::*;

use crate::folder::Folder;

#[test]
fn directories_come_first_and_files_have_sizes() {
    let folder =
        Folder::with(&[("b.txt", "12345"), ("a.txt", ""), ("z/", ""), (".hidden/", ""), (".gitignore", "b.txt")]);
    folder.link("link", "b.txt");
    let answer = folder.call("list", json!({})).unwrap();
    assert_eq!(answer.text, ".hidden/\nz/\n.gitignore\t5\na.txt\t0\nb.txt\t5\nlink -> b.txt\n");
    assert_eq!(answer.metadata, json!({ "path": ".", "entries": 6, "left_out": 0 }));
}

#[test]
fn entries_over_the_limit_are_counted() {
    let folder = Folder::with(&[("d/1", ""), ("d/2", ""), ("d/3", ""), ("d/4/", "")]);
    let answer = folder.call("list", json!({ "path": "d", "limit": 2 })).unwrap();
    assert_eq!(answer.text, "4/\n1\t0\n(2 entries left out; raise limit, or use `glob` with a pattern)\n");
    assert_eq!(answer.metadata["left_out"], 2);
}

#[test]
fn an_empty_directory_is_reported() {
    assert_eq!(Folder::new().call("list", json!({})).unwrap().text, "(the directory is empty)\n");
}

#[test]
fn a_name_cannot_break_its_line() {
    let folder = Folder::with(&[("two\nlines", ""), ("\u{1b}[31mred", "")]);
    assert_eq!(folder.call("list", json!({})).unwrap().text.lines().count(), 2);
}

#[test]
fn listing_a_file_suggests_read() {
    let failure = Folder::with(&[("f", "")]).call("list", json!({ "path": "f" })).unwrap_err();
    assert_eq!(failure, Failure::failed("`f` is a file; use `read`"));
}
