//! The commands that edit the policy: what they write, what they show, what they refuse, and that a running server
//! follows.

use crate::binary::desk::{Desk, finish};
use crate::mcp::wire::{Era, Wire};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

/// Binds the files plugin, and has a rule with comments.
const POLICY: &str = r#"# mine
[plugin.files]
directory.workspace = { path = "work", access = "read-write" } # here

[[rule]] # one
tool = "files.*"
permission = "read"
decision = "allow" # reads
"#;

fn text(desk: &Desk) -> String {
    fs::read_to_string(desk.site.path("portcullis.toml")).unwrap()
}

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "x\n" })
}

#[test]
fn a_rule_is_written_in_place_and_decides_the_next_call() {
    let desk = Desk::new(POLICY);
    assert_eq!(desk.call("files.write", &write("src/a"), 3)["code"], "policy-denied");
    let ran = desk.run(&["allow", "files.write", "--when", "path=src/**", "--yes"]).ends(0);
    assert!(ran.out.contains("+tool = \"files.write\"") && ran.out.contains("Decisions that change"), "{}", ran.out);
    assert!(ran.out.contains("deny  ->  allow  when path = \"src/**\""), "{}", ran.out);
    let added = "\n[[rule]]\ntool = \"files.write\"\nwhen = { path = \"src/**\" }\ndecision = \"allow\"\n";
    assert_eq!(text(&desk), format!("{POLICY}{added}"));
    desk.call("files.write", &write("src/a"), 0);
    desk.call("files.write", &write("other"), 3);
    let ran = desk.run(&["deny", "files.write", "--yes", "--json"]).ends(0).document();
    assert_eq!(ran["changed"], true);
    assert_eq!(
        ran["decisions"],
        json!([{ "tool": "files.write", "when": "path = \"src/**\"", "before": "allow", "after": "deny" }])
    );
    assert_eq!(desk.call("files.write", &write("src/a"), 3)["code"], "policy-denied");
    desk.verifies();
}

#[test]
fn without_a_terminal_yes_is_required_and_nothing_is_written() {
    let desk = Desk::new(POLICY);
    let ran = desk.run(&["allow", "files.write"]).ends(2);
    assert!(ran.err.contains("--yes") && ran.out.contains("+tool = \"files.write\""), "{}{}", ran.out, ran.err);
    assert_eq!(text(&desk), POLICY);
    let left: Vec<_> = fs::read_dir(desk.site.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".new")), "{left:?}");
}

#[test]
fn a_rule_without_effect_is_refused_with_the_rule_that_wins() {
    let policy = format!("{POLICY}\n[[rule]]\ntool = \"files.*\"\ndecision = \"deny\"\n");
    let desk = Desk::new(&policy);
    let ran = desk.run(&["allow", "files.write", "--yes"]).ends(2);
    assert!(ran.err.contains("rule 2 (line 10) says deny for files.*"), "{}", ran.err);
    assert_eq!(text(&desk), policy);
}

#[test]
fn an_allow_makes_an_exception_from_an_ask_and_nothing_more() {
    let policy = format!("{POLICY}\n[[rule]]\ntool = \"files.*\"\npermission = \"write\"\ndecision = \"ask\"\n");
    let desk = Desk::new(&policy);
    desk.call("files.write", &json!({ "path": "src/a", "content": "" }), 4);
    let ran = desk.run(&["allow", "files.write", "--when", "path=src/**", "--yes"]).ends(0);
    assert!(ran.out.contains("+over = \"ask\"") && ran.err.contains("it wins over rule 2 (line 10)"), "{}", ran.out);
    desk.call("files.write", &json!({ "path": "src/a", "content": "" }), 0);
    for path in ["a", "src/../a", "SRC/a"] {
        desk.call("files.write", &json!({ "path": path, "content": "" }), 4);
    }
    let ran = desk.run(&["explain", "files.write", r#"{"path":"src/a","content":""}"#]).ends(0);
    assert!(ran.out.contains("allow over ask"), "{}", ran.out);
    desk.run(&["deny", "files.write", "--yes"]).ends(0);
    desk.call("files.write", &json!({ "path": "src/a", "content": "" }), 3);
}

#[test]
fn a_misspelt_tool_is_not_written() {
    let desk = Desk::new(POLICY);
    let ran = desk.run(&["allow", "files.raed", "--yes"]).ends(2);
    assert!(ran.err.contains("did you mean `files.read`?"), "{}", ran.err);
    assert_eq!(text(&desk), POLICY);
}

#[test]
fn hidden_places_are_added_to_the_grant() {
    let desk = Desk::new(POLICY);
    fs::write(desk.site.path("work/.env"), "SECRET=1\n").unwrap();
    desk.call("files.read", &json!({ "path": ".env" }), 0);
    desk.run(&["allow", "files.read", "--hidden", ".env*", "--yes"]).ends(0);
    assert!(text(&desk).contains("{ path = \"work\", hidden = [\".env*\"], access = \"read-write\" } # here"));
    desk.call("files.read", &json!({ "path": ".env" }), 1);
}

#[test]
fn a_grant_is_checked_as_a_server_would_and_then_written() {
    let desk = Desk::new("[[rule]]\ntool = \"files.*\"\ndecision = \"allow\"\n");
    let state = format!("workspace={}", desk.site.state().display());
    let ran = desk.run(&["grant", "files", &state, "--yes"]).ends(2);
    assert!(ran.err.contains("the edited policy cannot be used"), "{}", ran.err);
    let ran = desk.run(&["grant", "files", "workspce=work", "--yes"]).ends(2);
    assert!(ran.err.contains("did you mean `workspace`?"), "{}", ran.err);
    let ran = desk.run(&["grant", "files"]).ends(2);
    assert!(
        ran.out.contains("files asks for") && ran.out.contains("workspace") && ran.err.contains("KEY=VALUE"),
        "{}",
        ran.out
    );
    desk.run(&["grant", "files", "workspace=work", "--access", "read-write", "--hidden", "*.pem", "--yes"]).ends(0);
    assert!(text(&desk).ends_with(
        "\n[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\", hidden = [\"*.pem\"] }\n"
    ));
    desk.call("files.write", &write("a"), 0);
}

#[test]
fn mode_and_link_of_the_policy_are_kept() {
    let desk = Desk::new(POLICY);
    let (policy, target) = (desk.site.path("portcullis.toml"), desk.site.directory("elsewhere").join("real.toml"));
    fs::rename(&policy, &target).unwrap();
    symlink("elsewhere/real.toml", &policy).unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
    desk.run(&["deny", "files.write", "--yes"]).ends(0);
    assert!(fs::symlink_metadata(&policy).unwrap().is_symlink());
    assert!(fs::read_to_string(&target).unwrap().contains("deny"));
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o640);
}

#[test]
fn a_missing_policy_is_created_for_its_owner_alone() {
    let desk = Desk::new(POLICY);
    fs::remove_file(desk.site.path("portcullis.toml")).unwrap();
    let policy = desk.site.path("home/.config/portcullis/policy.toml");
    let ran = desk.run_in_project(&["deny", "files.*", "--yes"]).ends(0);
    assert_eq!(
        fs::read_to_string(&policy).unwrap(),
        "[[rule]]\ntool = \"files.*\"\ndecision = \"deny\"\n",
        "{}",
        ran.err
    );
    assert_eq!(fs::metadata(&policy).unwrap().permissions().mode() & 0o7777, 0o600);
    // The file that is named in the environment does not exist either.
    desk.run(&["deny", "files.*", "--yes"]).ends(0);
    assert_eq!(text(&desk), "[[rule]]\ntool = \"files.*\"\ndecision = \"deny\"\n");
    assert_eq!(fs::metadata(desk.site.path("portcullis.toml")).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn a_pause_needs_no_confirmation_and_every_command_shows_it() {
    let desk = Desk::new(POLICY);
    desk.run(&["pause", "--reason", "strange calls"]).ends(0);
    assert_eq!(text(&desk), format!("paused = \"strange calls\"\n{POLICY}"));
    let reply = desk.call("files.read", &json!({ "path": "poem.txt" }), 3);
    assert_eq!(reply["code"], "paused");
    for command in [&["list"][..], &["explain", "files.read", "{\"path\":\"poem.txt\"}"], &["approvals", "list"]] {
        let ran = desk.run(command).ends(0);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(all.contains("strange calls") && all.contains("portcullis resume"), "{command:?}: {all}");
    }
    assert_eq!(desk.run(&["list", "--json"]).ends(0).document()["paused"]["reason"], "strange calls");
    desk.run(&["resume"]).ends(2);
    desk.run(&["resume", "--yes"]).ends(0);
    assert_eq!(text(&desk), POLICY);
    desk.call("files.read", &json!({ "path": "poem.txt" }), 0);
    let ran = desk.run(&["resume", "--yes"]).ends(2);
    assert!(ran.err.contains("not paused"), "{}", ran.err);
}

#[test]
fn a_pause_of_the_project_is_not_the_user_s_to_end() {
    let desk = Desk::new("paused = \"review me\"\n");
    let ran = desk.run_in_project(&["call", "hello.greet", "{\"name\":\"Ann\"}"]).ends(3);
    assert!(ran.err.contains("review me"), "{}", ran.err);
    let ran = desk.run_in_project(&["resume", "--yes"]).ends(2);
    assert!(ran.err.contains("the project's policy pauses"), "{}", ran.err);
}

/// The server is asked over its pipes before and after each edit by another process.
#[test]
fn a_running_server_follows_each_edit() {
    // The server lists a tool only if some call of it could run.
    let docs = "[[rule]]\ntool = \"files.write\"\nwhen = { path = \"docs/**\" }\ndecision = \"allow\"\n";
    // The same call is made until the server has the new policy.
    let desk = Desk::new(&format!("{POLICY}{docs}[approvals]\nrepeats = 1000000\n"));
    let mut command = desk.command();
    command.args(["serve", "--stdio", "--start-wait", "60"]).stderr(Stdio::null());
    let mut wire = Wire::start(command, Era::Modern);
    let mut code = |wanted: &str| {
        let params = json!({ "name": "files__write", "arguments": { "path": "src/a", "content": "x" } });
        let began = std::time::Instant::now();
        loop {
            let result = wire.result("tools/call", params.clone());
            let code = result["_meta"].to_string();
            if code.contains(&format!("\"{wanted}\"")) {
                return;
            }
            assert!(began.elapsed().as_secs() < 30, "{wanted}: {result}");
            std::thread::yield_now();
        }
    };
    code("policy-denied");
    desk.run(&["allow", "files.write", "--when", "path=src/**", "--yes"]).ends(0);
    code("completed");
    desk.run(&["pause"]).ends(0);
    code("paused");
    desk.run(&["resume", "--yes"]).ends(0);
    code("completed");
    desk.run(&["deny", "files.write", "--when", "path=src/**", "--yes"]).ends(0);
    code("policy-denied");
}

#[test]
fn what_a_remembered_approval_loses_is_shown() {
    let policy = format!("{POLICY}\n[[rule]]\ntool = \"files.write\"\npermission = \"write\"\ndecision = \"ask\"\n");
    let desk = Desk::new(&policy);
    let pending = desk
        .run(&["--json", "call", "files.write", &write("src/a").to_string(), "--ask", "pending"])
        .ends(4)
        .document();
    let id = pending["approval_request"].as_str().unwrap().to_owned();
    desk.run(&["approvals", "approve", &id, "--always", "--for", "2", "--yes"]).ends(0);
    let ran = desk.run(&["deny", "files.write", "--yes"]).ends(0);
    assert!(ran.out.contains("stops counting, because the policy denies the call"), "{}", ran.out);
}

#[test]
fn an_edit_during_another_edit_is_not_lost() {
    let desk = Desk::new(POLICY);
    // Both programs start from the same text. At most one of them can succeed with it.
    let start = |tool: &str| {
        let mut command = desk.command();
        command.args(["deny", tool, "--yes"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let ended: Vec<_> =
        ["files.write", "files.read", "hello.greet", "echo.run"].map(start).into_iter().map(finish).collect();
    let written = text(&desk);
    for (tool, ran) in ["files.write", "files.read", "hello.greet", "echo.run"].iter().zip(&ended) {
        let present = written.contains(&format!("tool = \"{tool}\"\ndecision = \"deny\""));
        if ran.err.contains("changed by someone else") {
            assert!(!present, "{tool} {written}");
        }
    }
    assert!(written.starts_with(POLICY), "{written}");
}

/// Approves a call that waits, from another process.
fn approve(desk: &Desk, path: &str) {
    let arguments = write(path).to_string();
    let pending = desk.run(&["--json", "call", "files.write", &arguments, "--ask", "pending"]).ends(4).document();
    let id = pending["approval_request"].as_str().unwrap().to_owned();
    desk.run(&["approvals", "approve", &id, "--yes"]).ends(0);
}

#[test]
fn approved_calls_become_the_smallest_rules_that_allow_them() {
    let grant = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n";
    let policy = format!("[defaults]\ndecision = \"ask\"\n[record]\npayloads = \"keep\"\n{grant}");
    let desk = Desk::new(&policy);
    for path in ["src/a", "src/b", "docs/c"] {
        approve(&desk, path);
    }
    let suggested = desk.run(&["suggest", "--json"]).ends(0).document();
    let rule = "[[rule]]\ntool = \"files.write\"\nwhen = { path = [\"docs/c\", \"src/*\"] }\ndecision = \"allow\"\n";
    assert_eq!(suggested["proposals"][0]["rule"], rule, "{suggested}");
    assert_eq!(suggested["proposals"][0]["calls"], 3);
    assert_eq!(text(&desk), policy, "nothing is written without --apply");
    desk.run(&["suggest", "--apply"]).ends(2);
    desk.run(&["suggest", "--apply", "--yes"]).ends(0);
    assert_eq!(text(&desk), format!("{policy}\n{rule}"));
    desk.call("files.write", &write("src/other"), 0);
    let outside = desk.run(&["--json", "call", "files.write", &write("docs/d").to_string(), "--ask", "pending"]);
    outside.ends(4);
    let again = desk.run(&["suggest", "--json"]).ends(0).document();
    assert_eq!(again["proposals"], json!([]), "{again}");
}

/// Calls after a damaged entry are missing from the proposals, so the command says so and fails.
#[test]
fn a_damaged_log_is_reported_with_the_proposals() {
    let grant = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n";
    let desk = Desk::new(&format!("[defaults]\ndecision = \"ask\"\n[record]\npayloads = \"keep\"\n{grant}"));
    for path in ["src/a", "docs/c"] {
        approve(&desk, path);
    }
    let file = desk.site.state().join("audit.jsonl");
    let damaged = fs::read_to_string(&file).unwrap().replacen("docs/c", "docs/C", 1);
    fs::write(&file, damaged).unwrap();
    let ran = desk.run(&["suggest"]).ends(8);
    assert!(ran.out.contains("path = \"src/a\"") && !ran.out.contains("docs/"), "{}", ran.out);
    assert!(ran.err.contains("does not verify") && ran.err.contains("are not considered"), "{}", ran.err);
}

#[test]
fn what_only_a_digest_is_left_of_is_said() {
    let grant = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n";
    let desk = Desk::new(&format!("[defaults]\ndecision = \"ask\"\n{grant}"));
    let before = text(&desk);
    approve(&desk, "src/a");
    let ran = desk.run(&["suggest"]).ends(0);
    // With targets in the log there is a proposal. Without them, the digest alone says too little.
    let told = ran.out.contains("only digests of the arguments") || ran.out.contains("path = \"src/a\"");
    assert!(told, "{}", ran.out);
    assert_eq!(text(&desk), before);
}

#[test]
fn every_error_of_a_policy_is_shown_with_its_line() {
    let desk = Desk::new("");
    desk.policy(
        "[limit]\ntime = 1\n[[rule]]\ntool = \"a.b\"\ndecision = \"alow\"\nreason = \"\\u001b[2J\"\n# \u{9b}31m\n",
    );
    let ran = desk.run(&["list"]).ends(2);
    for part in
        ["1 | [limit]", "^^^^^ did you mean `limits`?", "5 | decision = \"alow\"", "did you mean `allow`?", "3 errors"]
    {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert!(!ran.err.contains(['\u{1b}', '\u{9b}']), "{}", ran.err);
    let document = desk.run(&["list", "--json"]).ends(2).document();
    assert!(document["error"].to_string().contains("line 5, column 1"), "{document}");
}
