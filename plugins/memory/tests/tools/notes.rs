//! Setting, getting, listing, counting and deleting notes.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

#[test]
fn a_note_is_kept_until_it_is_replaced() {
    let notebook = Notebook::new();
    let kept = notebook.call("set", json!({ "key": "build command", "value": "make" })).unwrap();
    assert_eq!((kept.text.as_str(), kept.title.as_str()), ("Kept `build command` (4 bytes).", "Kept build command"));
    assert_eq!(kept.metadata, json!({ "key": "build command", "bytes": 4, "replaced": false }));

    let got = notebook.call("get", json!({ "key": "build command" })).unwrap();
    assert_eq!((got.text.as_str(), got.metadata), ("make", json!({ "key": "build command", "bytes": 4 })));

    let replaced = notebook.call("set", json!({ "key": "build command", "value": "two\nlines ä" })).unwrap();
    assert_eq!(replaced.text, "Replaced `build command` (12 bytes).");
    assert_eq!(notebook.call("get", json!({ "key": "build command" })).unwrap().text, "two\nlines ä");
}

#[test]
fn only_a_number_can_be_incremented() {
    let notebook = Notebook::with(&[("name", "Ada"), ("limit", "18446744073709551615")]);
    let counted = notebook.call("increment", json!({ "key": "visits" })).unwrap();
    assert_eq!((counted.text.as_str(), counted.title.as_str()), ("`visits` is now 1.", "Counted visits"));
    assert_eq!(counted.metadata, json!({ "key": "visits", "value": 1 }));
    assert_eq!(notebook.call("increment", json!({ "key": "visits", "by": 41 })).unwrap().text, "`visits` is now 42.");
    assert_eq!(notebook.call("get", json!({ "key": "visits" })).unwrap().text, "42");
    for key in ["name", "limit"] {
        let failure = notebook.call("increment", json!({ "key": key })).unwrap_err();
        assert!(failure.text().starts_with("it cannot be incremented: "), "{failure:?}");
    }
    assert_eq!(notebook.call("get", json!({ "key": "name" })).unwrap().text, "Ada");
    assert!(notebook.call("increment", json!({ "key": " " })).is_err());
}

#[test]
fn a_deleted_note_no_longer_exists() {
    let notebook = Notebook::with(&[("one", "1"), ("two", "2")]);
    assert_eq!(notebook.call("delete", json!({ "key": "one" })).unwrap().text, "Deleted `one`.");
    assert_eq!(notebook.keys(), ["two"]);
    let failure = notebook.call("delete", json!({ "key": "one" })).unwrap_err();
    assert_eq!(failure, Failure::failed("there is no note `one`; existing keys: `two`"));
}

#[test]
fn a_missing_key_is_answered_with_similar_keys() {
    let missing = |notebook: &Notebook| notebook.call("get", json!({ "key": "build command" })).unwrap_err();
    assert_eq!(missing(&Notebook::new()), Failure::failed("there is no note `build command`; the notebook is empty"));

    let alike = Notebook::with(&[("Build-Command", "a"), ("build commands", "b"), ("zebra", "c")]);
    let told = "there is no note `build command`; did you mean `build commands`, `Build-Command`?";
    assert_eq!(missing(&alike), Failure::failed(told));

    let keys: Vec<String> = (0..10).map(|number| format!("note-{number}")).collect();
    let notes: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), "")).collect();
    let told = missing(&Notebook::with(&notes));
    assert!(
        told.text().ends_with(
            "existing keys: `note-0`, `note-1`, `note-2`, `note-3`, `note-4`, `note-5`, `note-6`, `note-7` and 2 more"
        ),
        "{told:?}"
    );
}

#[test]
fn a_list_shows_keys_and_beginnings() {
    let long = "x".repeat(61);
    let notebook = Notebook::with(&[("b/2", "two\nlines"), ("a", ""), ("b/1", &long)]);
    let listed = notebook.call("list", json!({})).unwrap();
    assert_eq!(listed.text, format!("a: \nb/1: {}…\nb/2: two lines\n", &long[..60]));
    assert_eq!(listed.metadata, json!({ "keys": ["a", "b/1", "b/2"], "notes": 3, "left_out": 0 }));

    let listed = notebook.call("list", json!({ "prefix": "b/", "limit": 1 })).unwrap();
    assert!(listed.text.ends_with("(1 more; raise limit, or give a prefix)\n"), "{}", listed.text);
    assert_eq!(listed.metadata, json!({ "keys": ["b/1"], "notes": 2, "left_out": 1 }));
    assert_eq!(notebook.call("list", json!({ "prefix": "c" })).unwrap().text, "(no key has this prefix)\n");
    assert_eq!(Notebook::new().call("list", json!({})).unwrap().text, "(the notebook is empty)\n");
}

#[test]
fn a_key_must_be_one_short_line() {
    let notebook = Notebook::new();
    for key in ["", " a", "a ", "a\nb", "a\u{1b}b", &"ä".repeat(129)] {
        for (tool, arguments) in [
            ("set", json!({ "key": key, "value": "" })),
            ("get", json!({ "key": key })),
            ("delete", json!({ "key": key })),
        ] {
            let failure = notebook.call(tool, arguments).unwrap_err();
            assert!(matches!(failure, Failure::InvalidArguments(_)), "{tool} {key:?}: {failure:?}");
        }
    }
    assert!(notebook.call("set", json!({ "key": "\u{1f980}".repeat(128), "value": "" })).is_ok());
    assert!(notebook.call("set", json!({ "key": "../other-plugin/x", "value": "" })).is_ok(), "a key is not a path");
}

#[test]
fn the_error_of_a_full_notebook_suggests_what_to_do() {
    let notebook = Notebook::of(10);
    notebook.call("set", json!({ "key": "a", "value": "12345" })).unwrap();
    let failure = notebook.call("set", json!({ "key": "b", "value": "12345" })).unwrap_err();
    let told = "the store is full: it may have 10 bytes in all; delete notes you do not need, or keep a shorter one";
    assert_eq!(failure, Failure::failed(told));
    assert_eq!(notebook.keys(), ["a"]);
}
