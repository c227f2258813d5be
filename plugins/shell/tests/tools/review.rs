//! The plugin's review of a call before it runs.

use portcullis_sdk::prelude::*;

use crate::review;

#[test]
fn a_command_that_tells_what_it_runs_needs_no_approval() {
    for command in ["ls", "git add -A && git commit -m 'a'", "cat <<'EOF' > a.txt\n$x\nEOF\n", "rm -rf /"] {
        assert_eq!(review("run", json!({ "command": command })), Verdict::Clear, "{command}");
    }
    let exec =
        |program: &str, arguments: &[&str]| review("exec", json!({ "program": program, "arguments": arguments }));
    assert_eq!(exec("git", &["commit", "-m", "$x `y`"]), Verdict::Clear);
    assert_eq!(exec("sh", &["-c", "ls | wc -l"]), Verdict::Clear);
}

#[test]
fn a_command_that_does_not_needs_approval() {
    let asked = review("run", json!({ "command": "git pull && eval \"$(cat a)\" > log" }));
    let reason = "cannot tell what this command runs: `eval` runs text as a command. It runs: git, cat; writes to: log";
    assert_eq!(asked, Verdict::ask(reason));
    for command in ["echo 'a", "$x", "if true"] {
        assert!(matches!(review("run", json!({ "command": command })), Verdict::Ask(_)), "{command}");
    }
    let sh = json!({ "program": "sh", "arguments": ["-c", "$x"] });
    assert!(matches!(review("exec", sh), Verdict::Ask(_)));
}

#[test]
fn a_character_that_a_reader_does_not_see_needs_approval() {
    let hidden = |what: &str| Verdict::ask(format!("the command has a character that a reader does not see: {what}"));
    let run = |command: &str| review("run", json!({ "command": command }));
    assert_eq!(run("ls\t-l\nls ä 日本 é"), Verdict::Clear);
    assert_eq!(run("ls \u{202e}a"), hidden("U+202E at character 4"));
    assert_eq!(run("\u{1b}[2Kls"), hidden("U+001B at character 1"));
    for character in
        ['\0', '\r', '\u{8}', '\u{85}', '\u{ad}', '\u{200b}', '\u{2066}', '\u{feff}', '\u{fe0f}', '\u{e0041}']
    {
        let verdict = run(&format!("ls {character}"));
        assert!(matches!(&verdict, Verdict::Ask(text) if text.contains("does not see")), "{character:?}: {verdict:?}");
    }
    let arguments = json!({ "program": "git", "arguments": ["log", "a\u{200b}"] });
    assert_eq!(review("exec", arguments), hidden("U+200B at character 2"));
    let directory = json!({ "command": "ls", "directory": "/workspace/\u{2028}" });
    assert_eq!(review("run", directory), hidden("U+2028 at character 12"));
}

#[test]
fn arguments_of_another_type_are_refused() {
    assert!(matches!(review("run", json!({ "command": 1 })), Verdict::Refuse(_)));
    assert!(matches!(review("other", json!({})), Verdict::Refuse(_)));
}
