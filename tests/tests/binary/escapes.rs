//! Untrusted text on its way to the terminal: names, contents and arguments are always escaped. S49, F17, M19.

use crate::binary::desk::{Desk, OPEN};
use portcullis::text::is_deceptive;
use serde_json::json;
use std::fs;

/// Sequences that clear a screen, set a title, fill a clipboard, overwrite a line, hide text, or change its direction.
const EVIL: [&str; 8] = [
    "\u{1b}[2J\u{1b}[1;1H",
    "\u{1b}]0;owned\u{7}",
    "\u{1b}]52;c;aGk=\u{1b}\\",
    "\u{9b}31m",
    "a\rb",
    "\u{8}\u{8}",
    "\u{202e}txt\u{202c}",
    "\u{200b}\u{e0041}",
];

#[track_caller]
fn harmless(text: &str) {
    let found = text.chars().find(|character| is_deceptive(*character) && !matches!(character, '\n' | '\t'));
    assert_eq!(found, None, "{text:?}");
}

#[test]
fn no_untrusted_text_reaches_a_terminal_unescaped() {
    let desk = Desk::new(OPEN);
    for (index, evil) in EVIL.into_iter().enumerate() {
        fs::write(desk.site.path(format!("work/content-{index}.txt")), format!("before{evil}after\n")).unwrap();
        fs::write(desk.site.path("work").join(format!("name{evil}")), "x\n").unwrap();
    }
    for index in 0..EVIL.len() {
        let ran = desk.run(&["call", "files.read", &json!({ "path": format!("content-{index}.txt") }).to_string()]);
        harmless(&(ran.out + &ran.err));
    }
    for (tool, arguments) in
        [("files.list", json!({})), ("files.glob", json!({ "pattern": "**" })), ("files.grep", json!({ "regex": "." }))]
    {
        for json in [false, true] {
            let arguments = arguments.to_string();
            let line = ["call", tool, &arguments, "--json"];
            let ran = desk.run(if json { &line } else { &line[..3] });
            assert!(!ran.out.is_empty(), "{tool}: {}", ran.err);
            harmless(&(ran.out + &ran.err));
        }
    }
}

/// Errors, explanations and the audit log repeat the user's input.
#[test]
fn no_input_is_repeated_unescaped() {
    let desk = Desk::new(OPEN);
    for evil in EVIL {
        let (path, named) = (json!({ "path": evil }).to_string(), json!({ evil: evil }).to_string());
        let tool = format!("files.{evil}");
        let lines: [&[&str]; 9] = [
            &["call", &tool],
            &["call", "files.read", &path],
            &["call", "files.read", &named],
            &["call", "files.read", evil],
            &["explain", "files.read", &path],
            &["inspect", evil],
            &["check", evil],
            &["--policy", evil, "list"],
            &[evil],
        ];
        for line in lines {
            let ran = desk.run(line);
            assert_ne!(ran.code, None, "{line:?}");
            harmless(&(ran.out + &ran.err));
            let ran = desk.run(&[&["--json"], line].concat());
            harmless(&(ran.out + &ran.err));
        }
    }
    for arguments in [&["audit", "show"][..], &["audit", "show", "--call", ""], &["audit", "show", "--json"]] {
        harmless(&desk.run(arguments).ends(0).out);
    }
}

/// A file in the plugin directory whose name would clear the screen.
#[test]
fn a_file_name_in_the_plugin_directory_is_escaped() {
    let desk = Desk::new(OPEN);
    for evil in EVIL {
        fs::write(desk.site.plugins().join(format!("{evil}.wasm")), "x").unwrap();
    }
    harmless(&desk.run(&["list"]).ends(0).out);
    harmless(&desk.run(&["list", "--json"]).ends(0).out);
}
