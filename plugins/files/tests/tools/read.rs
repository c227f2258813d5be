//! `read`

use portcullis_sdk::prelude::*;

use crate::folder::{Folder, call};

#[test]
fn lines_come_with_their_numbers() {
    let cases = [
        ("one\ntwo\n", "     1\tone\n     2\ttwo\n"),
        ("no end", "     1\tno end\n"),
        ("crlf\r\nlines\r\n", "     1\tcrlf\n     2\tlines\n"),
        ("\n\n", "     1\t\n     2\t\n"),
        ("\u{feff}mark", "     1\tmark\n"),
        ("grüße 🦀\n", "     1\tgrüße 🦀\n"),
        ("", "(the file is empty)\n"),
    ];
    for (content, text) in cases {
        let answer = Folder::with(&[("f", content)]).call("read", json!({ "path": "f" })).unwrap();
        assert_eq!(answer.text, text, "{content:?}");
    }
}

#[test]
fn a_part_gives_the_next_offset() {
    let content: String = (1..=10).map(|number| format!("line {number}\n")).collect();
    let folder = Folder::with(&[("f", &content)]);
    let answer = folder.call("read", json!({ "path": "f", "offset": 4, "limit": 2 })).unwrap();
    assert_eq!(answer.text, "     4\tline 4\n     5\tline 5\n\n(more lines follow; continue with offset 6)\n");
    assert_eq!(answer.metadata["next_offset"], 6);

    let last = folder.call("read", json!({ "path": "f", "offset": 9, "limit": 2 })).unwrap();
    assert_eq!(last.text, "     9\tline 9\n    10\tline 10\n");
    assert_eq!(last.metadata["next_offset"], json!(null));
}

#[test]
fn an_offset_beyond_the_end_is_refused_with_the_line_count() {
    let failure = Folder::with(&[("f", "1\n2\n")]).call("read", json!({ "path": "f", "offset": 9 })).unwrap_err();
    assert_eq!(failure, Failure::invalid("`f` has 2 lines; there is no line 9"));
}

#[test]
fn a_long_line_is_cut_at_a_character() {
    for character in ["x", "ü", "🦀"] {
        let content = format!("{}\nnext\n", character.repeat(1_000_000));
        let answer = Folder::with(&[("f", &content)]).call("read", json!({ "path": "f" })).unwrap();
        let mut lines = answer.text.lines();
        assert_eq!(lines.next().unwrap(), format!("     1\t{} [... line cut]", character.repeat(2_000)));
        assert_eq!(lines.next().unwrap(), "     2\tnext");
        assert_eq!(answer.metadata["lines_cut"], 1);
    }
}

#[test]
fn a_line_that_just_fits_is_not_cut() {
    for end in ["", "\n", "\r\n"] {
        let content = format!("{}{end}", "🦀".repeat(2_000));
        let answer = Folder::with(&[("f", &content)]).call("read", json!({ "path": "f" })).unwrap();
        assert_eq!(answer.metadata["lines_cut"], 0);
        assert_eq!(answer.metadata["lines"], 1);
    }
}

#[test]
fn an_answer_is_bounded_and_gives_the_next_offset() {
    let content = format!("{}\n", "x".repeat(1_000)).repeat(1_000);
    let answer = Folder::with(&[("f", &content)]).call("read", json!({ "path": "f" })).unwrap();
    assert!(answer.text.len() < 200 * 1024, "{}", answer.text.len());
    let shown = answer.metadata["lines"].as_u64().unwrap();
    assert_eq!(answer.metadata["next_offset"], shown + 1);
}

#[test]
fn a_binary_file_is_refused_with_its_likely_type() {
    let cases: [(&[u8], &str); 5] = [
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\x7fELF\x02", "an ELF program"),
        (b"text\0text", "binary data"),
        (b"\xff\xfet\0", "UTF-16 text"),
        (b"\x01\x02\x03\x04", "binary data"),
    ];
    for (content, kind) in cases {
        let folder = Folder::new();
        folder.put("f", content);
        let failure = folder.call("read", json!({ "path": "f" })).unwrap_err();
        let size = content.len();
        assert_eq!(failure, Failure::failed(format!("`f` is not a text file: {size} bytes that look like {kind}")));
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced() {
    let folder = Folder::new();
    folder.put("f", b"caf\xe9 au lait\n");
    assert_eq!(folder.call("read", json!({ "path": "f" })).unwrap().text, "     1\tcaf\u{fffd} au lait\n");
}

#[test]
fn reading_a_directory_suggests_list() {
    let failure = Folder::with(&[("d/", "")]).call("read", json!({ "path": "d" })).unwrap_err();
    assert_eq!(failure, Failure::failed("`d` is a directory; use `list`"));
}

#[test]
fn a_cancelled_call_stops() {
    let folder = Folder::with(&[("f", &"line\n".repeat(10_000))]);
    let context = folder.context().cancelled_after(1);
    let outcome = call("read", json!({ "path": "f", "offset": 9_000 }), &context);
    assert_eq!(outcome.unwrap_err(), Failure::Cancelled);
}
