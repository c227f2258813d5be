//! `portcullis doctor` and `portcullis uninstall`.

use crate::binary::installed::Installed;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Returns the findings that are not ok, each as `level check: message | remedy`.
fn problems(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap();
    let text = |finding: &Value, member: &str| finding[member].as_str().unwrap_or_default().to_owned();
    let line = |finding: &Value| {
        let [level, check, message, remedy] =
            ["level", "check", "message", "remedy"].map(|member| text(finding, member));
        format!("{level} {check}: {message} | {remedy}")
    };
    findings.iter().filter(|finding| finding["level"] != "ok").map(line).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn doctor_finds_nothing_after_init() {
    let installed = Installed::new();
    installed.write("app/.mcp.json", "{}");
    installed.run(&["init", "--yes"]).ends(0);
    let ran = installed.run(&["doctor", "--json"]).ends(0);
    assert_eq!(problems(&ran.document()), Vec::<String>::new(), "{}", ran.out);
    let text = installed.run(&["doctor"]).ends(0).out;
    assert!(text.ends_with("0 errors, 0 warnings\n"), "{text}");
    assert!(
        text.contains(".mcp.json starts this program")
            && text.contains("agent, files, memory, openapi, script, shell, todo, web load"),
        "{text}"
    );
}

#[test]
fn doctor_changes_nothing_before_init() {
    let installed = Installed::new();
    fs::remove_dir_all(installed.home(".local")).unwrap();
    fs::create_dir(installed.home(".claude")).unwrap();
    let before = installed.files();
    let ran = installed.run(&["doctor", "--json"]).ends(0);
    let problems = problems(&ran.document()).join("\n");
    for told in
        ["warning policy: there is none", "warning plugin: none is installed", "portcullis init --client claude-code"]
    {
        assert!(problems.contains(told), "{told}: {problems}");
    }
    assert!(installed.files() == before);
}

/// Makes a fault, mends it, and what `doctor` says of it meanwhile.
type Fault<'a> = (&'a dyn Fn(), &'a dyn Fn(), &'a str);

/// Each fault is found, and its remedy is named.
#[test]
fn doctor_names_the_remedy_of_each_fault() {
    let installed = Installed::new();
    installed.write("app/.mcp.json", "{}");
    installed.run(&["init", "--yes"]).ends(0);
    let state = installed.home(".local/share/portcullis");
    let faults: [Fault; 6] = [
        (&|| set_mode(&state, 0o755), &|| set_mode(&state, 0o700), "error state: | chmod go-rwx"),
        (
            &|| set_mode(&installed.policy(), 0o666),
            &|| set_mode(&installed.policy(), 0o600),
            "error policy: | chmod o-w",
        ),
        (
            &|| fs::write(state.join("plugins/bad.wasm"), "bad").unwrap(),
            &|| fs::remove_file(state.join("plugins/bad.wasm")).unwrap(),
            "error plugin: bad.wasm is refused | portcullis check",
        ),
        (
            &|| installed.write("app/.mcp.json", r#"{"mcpServers":{"portcullis":{"command":"/gone/portcullis"}}}"#),
            &|| drop(installed.run(&["init", "--yes"]).ends(0)),
            "error agents: Claude Code: .mcp.json starts /gone/portcullis, which does not exist | portcullis init \
             --client claude-code",
        ),
        (
            &|| fs::write(state.join("key.0.new"), "").unwrap(),
            &|| fs::remove_file(state.join("key.0.new")).unwrap(),
            "warning leftovers: key.0.new | remove these files",
        ),
        (
            &|| fs::write(installed.policy(), "[plugin.files").unwrap(),
            &|| (),
            "error host: it cannot open: is not valid | correct",
        ),
    ];
    for (make, mend, told) in faults {
        make();
        let ran = installed.run(&["doctor", "--json"]);
        let code = if told.starts_with("error") { 1 } else { 0 };
        let problems = problems(&ran.ends(code).document());
        let is_told = |line: &String| told.split([':', '|']).all(|part| line.contains(part.trim()));
        assert!(problems.iter().any(is_told), "{told}: {problems:#?}");
        mend();
    }
}

#[test]
fn uninstall_removes_everything_that_was_written() {
    let installed = Installed::new();
    installed.write("app/.mcp.json", "{ \"mine\": 1 }");
    installed.write(".codex/config.toml", "model = \"x\"\n");
    let before = installed.files();
    installed.run(&["init", "--yes"]).ends(0);
    let package = installed.home(".local/share/portcullis/servers/packages/npm-a-1.0.0");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("index.js"), "").unwrap();
    fs::set_permissions(&package, fs::Permissions::from_mode(0o500)).unwrap();
    let kept = installed.run(&["uninstall"]).ends(2);
    assert!(kept.err.contains("--yes") && installed.policy().is_file(), "{}", kept.err);
    let ran = installed.run(&["uninstall", "--yes"]).ends(0);
    assert!(ran.out.contains("ledger.sqlite") && ran.out.contains(".mcp.json"), "{}", ran.out);
    let after = installed.files();
    assert!(before.iter().all(|file| after.contains(file)));
    assert!(!installed.home(".config/portcullis").exists());
    assert!(
        !installed.home(".local/share/portcullis").exists(),
        "{:?}",
        fs::read_dir(installed.home(".local/share/portcullis"))
    );
}

#[test]
fn uninstall_keeps_the_state_and_other_plugins() {
    let installed = Installed::new();
    installed.run(&["init", "--yes"]).ends(0);
    let state = installed.home(".local/share/portcullis");
    fs::copy(state.join("plugins/todo.wasm"), state.join("plugins/mine.wasm")).unwrap();
    installed.run(&["uninstall", "--yes", "--keep-state"]).ends(0);
    assert!(state.join("audit.jsonl").is_file() && state.join("plugins/mine.wasm").is_file());
    assert!(!state.join("plugins/files.wasm").exists());
    installed.run(&["uninstall", "--yes"]).ends(0);
    assert!(!state.join("audit.jsonl").exists() && state.join("plugins/mine.wasm").is_file());
}
