//! `portcullis init`: from an empty home directory to a protected agent, and back.

use crate::binary::installed::{Installed, SHIPPED};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const CLAUDE: &str = "app/.mcp.json";

#[track_caller]
fn entry(installed: &Installed, file: &str) -> Value {
    serde_json::from_str(&installed.read(file)).unwrap()
}

/// One command, and the tools of the project can be used under its policy.
#[test]
fn init_sets_a_project_up_and_makes_one_real_call() {
    let installed = Installed::new();
    fs::create_dir(installed.home(".claude")).unwrap();
    let ran = installed.run(&["init", "--yes"]).ends(0);
    for told in [
        "+[plugin.files.directory.workspace]",
        "install agent, files, memory, openapi, script, shell, todo, web",
        "+++ .mcp.json",
        "src/",
    ] {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    assert!(!ran.out.contains("canary") && ran.out.contains("portcullis call files.list"), "{}", ran.out);

    let policy = installed.policy();
    assert_eq!(fs::metadata(&policy).unwrap().permissions().mode() & 0o777, 0o600);
    for name in SHIPPED {
        assert!(installed.home(&format!(".local/share/portcullis/plugins/{name}.wasm")).is_file(), "{name}");
    }
    let project = installed.project("").display().to_string();
    let expected = json!({
        "command": installed.program().canonicalize().unwrap(),
        "args": ["serve", "--stdio", "--project", project.trim_end_matches('/')],
    });
    assert_eq!(entry(&installed, CLAUDE)["mcpServers"]["portcullis"], expected);

    // In the project and below it, every command uses the policy.
    for directory in ["app", "app/src"] {
        let listed = installed.run_in(directory, &["list"]).ends(0).out;
        assert!(listed.contains(&format!("decided by the policy {}", policy.display())), "{listed}");
        installed.run_in(directory, &["call", "files.read", r#"{"path":"src/main.rs"}"#]).ends(0);
    }
    installed.run(&["call", "files.read", r#"{"path":".env"}"#]).ends(1);
    installed.run(&["call", "files.write", r#"{"path":"a","content":""}"#]).ends(4);
    // Elsewhere it has no effect.
    fs::create_dir(installed.home("other")).unwrap();
    let ran = installed.run_in("other", &["call", "files.read", r#"{"path":"src/main.rs"}"#]).ends(3);
    assert!(ran.err.contains("policy-denied"), "{}", ran.err);
    let read = ["call", "files.read", r#"{"path":"src/main.rs"}"#, "--project", "../app"];
    installed.run_in("other", &read).ends(0);
}

/// A link to a project is the project. A link below another project does not bring that project's policy along.
#[test]
fn the_policy_is_found_by_the_resolved_directory() {
    let installed = Installed::new();
    installed.run(&["init", "--yes"]).ends(0);
    symlink("app", installed.home("link")).unwrap();
    fs::create_dir(installed.home("other")).unwrap();
    symlink("../other", installed.project("out")).unwrap();
    let read = ["--json", "list"];
    let policy = |directory: &str| installed.run_in(directory, &read).ends(0).document()["policy"]["project"].clone();
    let project = installed.home("app").display().to_string();
    assert_eq!(policy("link"), json!(project));
    assert_eq!(policy("app/out"), Value::Null);
    // The nearest project wins.
    installed.run_in("app/src", &["init", "--yes"]).ends(0);
    assert_eq!(policy("app/src"), json!(installed.project("src").display().to_string()));
    assert_eq!(policy("app"), json!(project));
}

#[test]
fn a_second_run_changes_nothing() {
    let installed = Installed::new();
    installed.write(".codex/config.toml", "");
    installed.run(&["init", "--yes"]).ends(0);
    let before = installed.files();
    let ran = installed.run(&["init", "--yes"]).ends(0);
    assert!(ran.out.contains("Already set up: nothing was changed."), "{}", ran.out);
    assert!(installed.files() == before);
}

/// Every client's file, with comments, other servers and unusual formatting: only the entry is added, and undo brings
/// every byte back.
#[test]
fn undo_brings_every_byte_back() {
    let installed = Installed::new();
    let json = |servers: &str| {
        format!(
            "\u{feff}{{\r\n\t// mine\r\n\t\"a\" : [1,2 ],\r\n\t\"{servers}\": \
             {{ \"other\": {{\"command\":\"x\"}} }}\r\n}}"
        )
    };
    installed.write("app/.mcp.json", &json("mcpServers"));
    installed.write("app/.cursor/mcp.json", "{}");
    installed.write("app/.vscode/mcp.json", "{\n    \"servers\": {\n    },\n    // end\n}\n");
    installed.write("app/opencode.jsonc", "{ \"$schema\": \"https://opencode.ai/config.json\", /* c */ \"mcp\": {}, }");
    installed.write("app/.gemini/settings.json", "");
    installed.write(".config/zed/settings.json", &json("context_servers"));
    installed.write(
        ".codex/config.toml",
        "model = 'x' # mine\n\n[ mcp_servers . other ]\ncommand=\"y\"\n\n[tail]\nlast = 1",
    );
    fs::set_permissions(installed.home(".codex/config.toml"), fs::Permissions::from_mode(0o640)).unwrap();
    let before = installed.files();

    installed.run(&["init", "--yes"]).ends(0);
    let files = [
        "app/.mcp.json",
        "app/.cursor/mcp.json",
        "app/.vscode/mcp.json",
        "app/opencode.jsonc",
        "app/.gemini/settings.json",
        ".config/zed/settings.json",
        ".codex/config.toml",
    ];
    for file in files {
        assert!(installed.read(file).contains("portcullis"), "{file}");
    }
    for kept in ["\t// mine\r\n\t\"a\" : [1,2 ],\r\n", "\"other\": {\"command\":\"x\"}"] {
        assert!(installed.read("app/.mcp.json").contains(kept), "{kept}: {}", installed.read("app/.mcp.json"));
    }
    assert!(
        installed
            .read(".codex/config.toml")
            .starts_with("model = 'x' # mine\n\n[ mcp_servers . other ]\ncommand=\"y\"\n")
    );
    let mode = fs::metadata(installed.home(".codex/config.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);

    installed.run(&["init", "--undo", "--yes"]).ends(0);
    let after = installed.files();
    let changed: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|(path, ..)| path).collect();
    let made: Vec<_> =
        changed.iter().filter(|path| !path.ends_with("portcullis") && !path.ends_with("projects")).collect();
    assert!(made.is_empty(), "{made:?}");
    assert!(before.iter().all(|file| after.contains(file)));
    assert!(!installed.home(".local/share/portcullis/plugins/files.wasm").exists());
    installed.run(&["init", "--undo", "--yes"]).ends(2);
}

/// After the user has changed a file, undo removes only the entry. An edited policy stays.
#[test]
fn undo_keeps_what_was_changed_since() {
    let installed = Installed::new();
    installed.write(CLAUDE, "{\"mcpServers\":{\"one\":{\"command\":\"x\"}}}");
    installed.run(&["init", "--yes"]).ends(0);
    let mut document = entry(&installed, CLAUDE);
    document["mcpServers"]["two"] = json!({ "command": "y" });
    installed.write(CLAUDE, &document.to_string());
    let policy = installed.policy();
    fs::write(&policy, fs::read_to_string(&policy).unwrap() + "# mine\n").unwrap();
    let ran = installed.run(&["init", "--undo", "--yes"]).ends(0);
    assert!(ran.out.contains("you have edited it since"), "{}", ran.out);
    assert!(policy.is_file());
    let servers = json!({ "one": { "command": "x" }, "two": { "command": "y" } });
    assert_eq!(entry(&installed, CLAUDE)["mcpServers"], servers);
}

/// Files that cannot be merged are left alone, byte for byte, with the lines to paste. The others are written.
#[test]
fn a_file_that_cannot_be_merged_is_left_alone() {
    let installed = Installed::new();
    installed.write("app/.cursor/mcp.json", "{ \"mcpServers\": [ broken");
    installed.write("app/.vscode/mcp.json", "{}");
    fs::set_permissions(installed.project(".vscode/mcp.json"), fs::Permissions::from_mode(0o444)).unwrap();
    installed.write(".codex/config.toml", "mcp_servers = 1\n");
    installed.write("elsewhere.json", "{}");
    symlink("../elsewhere.json", installed.project(".mcp.json")).unwrap();
    let before = installed.files();
    let ran = installed.run(&["init", "--yes"]).ends(0);
    let reasons = ["it has an error", "it is read-only", "is not a table of servers", "leads out of the project"];
    for told in reasons.into_iter().chain(["\"mcpServers\": {", "[mcp_servers.portcullis]"]) {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    let after = installed.files();
    assert!(before.iter().all(|file| after.contains(file)));
}

/// A link of the user, as with dotfiles in a repository: the link stays, and its target is written.
#[test]
fn a_link_of_the_user_is_followed_and_stays() {
    let installed = Installed::new();
    installed.write("dotfiles/codex.toml", "model = \"x\"\n");
    fs::create_dir(installed.home(".codex")).unwrap();
    symlink("../dotfiles/codex.toml", installed.home(".codex/config.toml")).unwrap();
    installed.run(&["init", "--yes"]).ends(0);
    assert!(fs::symlink_metadata(installed.home(".codex/config.toml")).unwrap().is_symlink());
    assert!(installed.read("dotfiles/codex.toml").contains("[mcp_servers.portcullis]"));
    installed.run(&["init", "--undo", "--yes"]).ends(0);
    assert_eq!(installed.read("dotfiles/codex.toml"), "model = \"x\"\n");
}

/// The home directory holds the state and the policies, so no plugin may write there.
#[test]
fn a_directory_that_holds_the_policies_cannot_be_a_project() {
    let installed = Installed::new();
    for directory in ["", ".local/share/portcullis"] {
        let ran = installed.run_in(directory, &["init", "--yes"]).ends(2);
        assert!(ran.err.contains("cannot be a project"), "{}", ran.err);
    }
    let ran = installed.run(&["init"]).ends(2);
    assert!(ran.err.contains("--yes"), "{}", ran.err);
    assert!(!installed.home(".config").exists());
}

#[test]
fn flags_replace_the_answers() {
    let installed = Installed::new();
    let flags = ["--read", "ask", "--write", "deny", "--web", "deny", "--hide", "*.sql", "--no-clients"];
    let mut arguments = vec!["init", "--yes"];
    arguments.extend(flags);
    installed.run(&arguments).ends(0);
    let policy = fs::read_to_string(installed.policy()).unwrap();
    for line in ["access = \"read-only\"", "hidden = [\"*.sql\"]"] {
        assert!(policy.contains(line), "{line}: {policy}");
    }
    assert!(!policy.contains("plugin.web") && !policy.contains("\"write\""), "{policy}");
    installed.run(&["call", "files.read", r#"{"path":"src/main.rs"}"#]).ends(4);
    installed.run(&["call", "files.write", r#"{"path":"a","content":""}"#]).ends(3);
}

/// A plugin of the project cannot take the place of the user's, and no tool can change the project's plugins.
#[test]
fn a_plugin_of_the_project_does_not_replace_the_users() {
    let installed = Installed::new();
    installed.run(&["init", "--yes", "--write", "allow"]).ends(0);
    installed.write("app/plugins/files.wasm", "hostile");
    let listed = installed.run(&["list"]).ends(0).out;
    assert!(listed.contains("plugins/files.wasm") && listed.contains("has a file of the same name"), "{listed}");
    installed.run(&["call", "files.read", r#"{"path":"src/main.rs"}"#]).ends(0);
    for path in ["plugins/web2.wasm", "plugins/files.wasm", ".mcp.json", "opencode.json"] {
        let arguments = json!({ "path": path, "content": "x" }).to_string();
        installed.run(&["call", "files.write", &arguments]).ends(1);
    }
    assert_eq!(installed.read("app/plugins/files.wasm"), "hostile");
}
