//! What people see on terminals of 60, 80 and 200 columns: no line is wider, no column is lost, and no text of a
//! plugin can deceive.

use crate::binary::console::{ASK, Session};
use crate::binary::desk::Desk;
use portcullis::text::is_deceptive;
use portcullis_tests::{Manifest, guest};
use serde_json::{Value, json};

/// The widths of a half window, of the usual terminal and of a wide screen.
const WIDTHS: [usize; 3] = [60, 80, 200];

/// The line above those to copy into a policy, which are never broken.
const POLICY_LINES: &str = "To grant it, add these lines to the policy:";

/// A text of a plugin that loads: wide characters, what looks like a command, and a word that no line can hold.
const WIDE: &str = "wide 日本語日本語日本語日本語 and `not a command, but as long as one` \
                    aVeryLongWordWithoutASpaceThatIsLongerThanAnyLineOfSixtyColumnsOnAnyTerminalInTheWorld and more";

/// A text of a plugin that is refused: it would clear the screen, reverse a line, and move the cursor.
const HOSTILE: &str = "\u{202e}reversed\u{202c} \u{1b}[2J\u{1b}[1;1H \u{9b}31m \u{8}\u{8}\u{200b} a\rb";

/// Runs a command on a terminal of some width. Returns what it shows.
fn shown(desk: &Desk, columns: usize, line: &[&str], code: i32) -> String {
    let words: Vec<String> = line.iter().map(|word| format!("'{word}'")).collect();
    let program = portcullis_tests::program();
    let line = format!("stty cols {columns} rows 50; exec '{}' {}", program.display(), words.join(" "));
    Session::shell(desk, &line).ends(code)
}

/// Returns the columns that a text takes, counting East Asian characters twice.
fn columns(text: &str) -> usize {
    text.chars().map(|character| if ('\u{2e80}'..='\u{ffdc}').contains(&character) { 2 } else { 1 }).sum()
}

#[track_caller]
fn assert_fits(text: &str, width: usize, what: &[&str]) {
    let to_copy = |line: &str| line.matches('`').count() >= 2;
    for line in text.split(POLICY_LINES).next().unwrap_or_default().lines() {
        assert!(columns(line) <= width || to_copy(line), "{what:?} at {width}: {line:?}\n{text}");
    }
    let found = text.chars().find(|character| is_deceptive(*character) && *character != '\n');
    assert_eq!(found, None, "{what:?}: {text:?}");
}

/// Returns a plugin with this text in every place.
fn plugin(name: &str, text: &str) -> Vec<u8> {
    let mut manifest = Manifest::of(name).directory("a-directory-with-a-long-name", true).tool(|tool| {
        tool.title = Some(text.to_owned());
        tool.description = format!("{text}\n{text}");
        let property = json!({ "type": "string", "description": text });
        tool.schema = json!({ "type": "object", "properties": { text: property } }).to_string();
    });
    manifest.description = format!("{text}\n{text}");
    manifest.dependencies[0].reason = text.to_owned();
    guest("good", &manifest)
}

/// A desk with such plugins, with open and settled requests, and with a remembered approval.
fn desk() -> Desk {
    let desk = Desk::new(ASK);
    desk.site.plugin("wide", &plugin("wide", WIDE));
    desk.site.plugin("hostile", &plugin("hostile", HOSTILE));
    for (path, answer) in [("a.txt", &["reject"][..]), ("b.txt", &["approve", "--yes", "--always"]), ("c.txt", &[])] {
        let arguments = json!({ "path": path, "content": format!("{WIDE}{HOSTILE}") }).to_string();
        let ran = desk.run(&["--json", "call", "files.write", &arguments, "--ask", "pending"]).ends(4);
        let id = ran.document()["approval_request"].as_str().unwrap().to_owned();
        if let Some((word, options)) = answer.split_first() {
            desk.run(&[&["approvals", word, &id], options].concat()).ends(0);
        }
    }
    desk
}

/// Every command that shows something, with its exit code and words that must be there at every width.
fn screens(desk: &Desk) -> Vec<(Vec<String>, i32, Vec<&'static str>)> {
    let listed = desk.run(&["approvals", "list", "--json"]).ends(0).document();
    let id = |kind: &str| listed[kind][0]["id"].as_str().unwrap().to_owned();
    let line = |line: &[&str]| line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let write = r#"{"path":"a.txt","content":"one"}"#;
    let calls = desk.run(&["log", "--json"]).ends(0).out;
    let first: Value = serde_json::from_str(calls.lines().next().unwrap()).unwrap();
    let call = first["call"].as_str().unwrap().to_owned();
    vec![
        (
            line(&["list"]),
            0,
            vec!["TOOL", "DECISION", "PERMISSIONS", "DESCRIPTION", "files.write", "wide.run", "refused.wasm"],
        ),
        (line(&["list", "--tokens"]), 0, vec!["TOOL", "TOKENS"]),
        (line(&["inspect", "files"]), 0, vec!["sha256", "asks for", "imports", "arguments"]),
        (line(&["inspect", "plugins/files.wasm"]), 0, vec!["sha256", "arguments"]),
        (line(&["inspect", "wide"]), 0, vec!["sha256", "arguments", "日本語"]),
        (line(&["inspect", "hostile"]), 7, vec!["error:"]),
        (line(&["explain", "files.write", write]), 0, vec!["arguments", "permissions", "handle", "decisive"]),
        (line(&["explain", "files.write", "{}"]), 6, vec!["invalid-arguments"]),
        (line(&["check", "plugins/files.wasm"]), 0, vec!["would load", "conforms", "asks for"]),
        (line(&["check", "plugins/wide.wasm"]), 0, vec!["would load", "lint:"]),
        (line(&["check", "plugins/hostile.wasm"]), 7, vec!["refused", "remedy:"]),
        (
            line(&["approvals", "list", "--all"]),
            0,
            vec!["REQUEST", "MADE", "TOOL", "FOR", "STATE", "WHAT", "GIVEN", "LAST USED", "USES", "EXPIRES", "COVERS"],
        ),
        (line(&["approvals", "show", &id("questions")]), 0, vec!["request", "call", "state", "made", "expires"]),
        (line(&["approvals", "show", &id("answers")]), 0, vec!["covers", "scope", "plugin", "handle", "used"]),
        (line(&["approvals", "show", "123456"]), 2, vec!["error:"]),
        (line(&["trust", "nowhere.toml"]), 2, vec!["error:"]),
        (line(&["audit", "show"]), 0, vec!["decision", "outcome", "files.write", "completed"]),
        (line(&["audit", "verify"]), 0, vec!["verify"]),
        (line(&["--plugins", "nowhere", "list"]), 2, vec!["error:", "remedy:"]),
        (line(&["list", "--no-such-option"]), 2, vec!["error:", "Usage:"]),
        (
            line(&["bench", "plugins/wide.wasm", "--tool", "run", "--arguments", "{}", "--seconds", "1"]),
            0,
            vec!["sha256", "wide.run", "warm: median", "calls per s", "memory: running call", "samples"],
        ),
        (line(&["bench", "plugins/hostile.wasm"]), 7, vec!["refused"]),
        (line(&["server", "list"]), 0, vec![]),
        (line(&["import", "--dry-run"]), 0, vec![]),
        (line(&["version"]), 0, vec!["portcullis", "contracts", "engine"]),
        (line(&["log"]), 0, vec!["files.write", "a.txt", "rejected", "waits"]),
        (line(&["log", "show", &call]), 0, vec!["files.write", "asked", "decision", "outcome"]),
        (line(&["suggest"]), 0, vec![]),
        (line(&["doctor"]), desk.run(&["doctor"]).code.unwrap(), vec!["policy", "state"]),
    ]
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_column_is_lost() {
    let desk = desk();
    for (line, code, wanted) in screens(&desk) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        for width in WIDTHS {
            let text = shown(&desk, width, &line, code);
            assert_fits(&text, width, &line);
            // A word may be broken at the edge, but not lost.
            let joined: String = text.split_whitespace().collect();
            for word in &wanted {
                let word = word.replace(' ', "");
                assert!(joined.contains(&word), "{line:?} at {width}: {word} is lost\n{text}");
            }
        }
    }
}

/// The losses of an export go to standard error, and the tools to standard output as JSON that is never broken.
#[test]
fn the_losses_of_an_export_fit() {
    let desk = desk();
    for width in WIDTHS {
        let text = shown(&desk, width, &["export", "--format", "openai-responses-strict", "--deny-lossy"], 9);
        assert!(text.contains("lost:"), "{text}");
        assert_fits(&text, width, &["export"]);
    }
}

/// The help of every command.
#[test]
fn every_help_fits() {
    let desk = desk();
    let pages = desk.run(&["man", "--json"]).ends(0).document();
    for page in pages["pages"].as_array().unwrap() {
        let file = page["file"].as_str().unwrap();
        let command = file.trim_start_matches("portcullis").trim_start_matches('-').trim_end_matches(".1");
        let line: Vec<&str> = ["help"].into_iter().chain(command.split('-').filter(|word| !word.is_empty())).collect();
        for width in WIDTHS {
            let text = shown(&desk, width, &line, 0);
            // Longer lines are hard to read, also on a wide screen.
            assert_fits(&text, width.min(100), &line);
            assert!(
                text.contains("Usage:")
                    && (line.len() == 1 || text.contains("Examples:") || file.matches('-').count() == 1)
            );
        }
    }
}
