//! `portcullis import`: the servers of agents become confined servers of the policy, and no secret is shown or kept.

use crate::schema::assert_valid;
use crate::servers::desk::{PROGRAM, definition};
use crate::servers::user::User;
use portcullis_tests::Ran;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A value that must not appear anywhere.
const CANARY: &str = "canary-of-an-imported-secret";

/// A user with servers in all agents. `desk` is a program, and `notes` a package.
fn user() -> User {
    let user = User::new();
    for version in ["1.0.0", "1.1.0"] {
        user.registry.publish("notes", version, &json!([definition("echo", "Says its version.")]), &json!({}));
    }
    user.write("work/tools.json", &json!([definition("echo", "Does what the call says.")]).to_string());
    user
}

fn npx(package: &str, arguments: &[&str]) -> Value {
    let arguments = [&["-y", package], arguments].concat();
    json!({ "command": "npx", "args": arguments })
}

/// Returns the only server of a document with this name in the configurations.
#[track_caller]
fn found<'d>(document: &'d Value, name: &str) -> &'d Value {
    let servers: Vec<&Value> =
        document["servers"].as_array().unwrap().iter().filter(|server| server["found_as"] == name).collect();
    assert_eq!(servers.len(), 1, "{name}: {document:#}");
    servers[0]
}

#[track_caller]
fn assert_no_canary(ran: &Ran) {
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{}\n{}", ran.out, ran.err);
}

/// A server at an address of the loopback interface. It ends when this is dropped.
struct AddressServer {
    child: Child,
    url: String,
}

impl AddressServer {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/upstream/tests/hostile_http.py");
        let mut command = Command::new("python3");
        command.arg(script).arg("answer").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}/mcp", port.trim()) }
    }
}

impl Drop for AddressServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes configurations of all agents, with one server in two of them, and one server at an address.
fn write_all_agents(user: &User, url: &str) {
    let desk = json!({ "command": PROGRAM, "args": [user.home("work")], "cwd": user.home("work") });
    user.write("app/.mcp.json", &json!({ "mcpServers": { "desk": desk } }).to_string());
    let project = user.home("app").display().to_string();
    let claude = json!({
        "numStartups": 5,
        "mcpServers": { "Notes A": npx("notes@1.0.0", &["--a"]) },
        "projects": { project: { "mcpServers": { "mine": npx("notes@^1.0.0", &["--b"]) } } },
    });
    user.write(".claude.json", &claude.to_string());
    user.write(".cursor/mcp.json", &json!({ "mcpServers": { "desk": desk, "cur": npx("notes", &["c"]) } }).to_string());
    let code =
        format!("{{ // mine\n \"servers\": {{ \"code\": {{ \"type\": \"stdio\", \"command\": {PROGRAM:?}, }}, }}, }}");
    user.write("app/.vscode/mcp.json", &code);
    user.write(
        ".codex/config.toml",
        &format!(
            "model = \"x\"\n[mcp_servers.codex]\ncommand = {PROGRAM:?}\nargs = [\"1\"]\nenv = {{ \"MODE\" = \"m\" }}\n"
        ),
    );
    let open = json!({ "mcp": { "open": { "type": "local", "command": [PROGRAM, "2"], "environment": { "A": "b" } },
        "far": { "type": "remote", "url": url, "headers": { "X-Team": "red" } },
        "old": { "type": "sse", "url": "https://example.com/sse" } } });
    user.write(".config/opencode/opencode.json", &open.to_string());
}

#[test]
fn servers_of_all_agents_become_sections_of_the_policy() {
    let user = user();
    let server = AddressServer::start();
    write_all_agents(&user, &server.url);
    let far = format!("+url = {:?}", server.url);
    let shown = user.run(&["import", "--dry-run"]).ends(0);
    for told in [
        "+[server.desk]",
        "+[server.notes-a]",
        "+package = \"npm:notes@1.0.0\"",
        far.as_str(),
        "+headers = { x-team = \"red\" }",
        "+oauth = true",
        "run `portcullis login far` after the import",
        "old of",
        "the transport `sse`",
        "the newest now",
    ] {
        assert!(shown.out.contains(told), "{told}: {}", shown.out);
    }
    assert_eq!((user.policy().as_str(), user.packages()), ("# mine\n", 0));

    let imported = user.run(&["import", "--yes", "--json"]).ends(0).document();
    assert_valid("import", &imported);
    for (name, state) in [
        ("desk", "imported"),
        ("Notes A", "imported"),
        ("mine", "imported"),
        ("cur", "imported"),
        ("code", "imported"),
        ("codex", "imported"),
        ("open", "imported"),
        ("far", "imported"),
        ("old", "left-out"),
    ] {
        assert_eq!(found(&imported, name)["state"], state, "{name}: {imported:#}");
    }
    assert_eq!(found(&imported, "desk")["files"].as_array().unwrap().len(), 2, "equal servers become one");
    assert_eq!(
        (&found(&imported, "mine")["package"], &found(&imported, "mine")["newest"]),
        (&json!("npm:notes@1.1.0"), &json!(true))
    );
    assert_eq!(found(&imported, "desk")["start"]["tools"][0]["name"], "desk.echo");
    let policy = user.policy();
    let work = user.home("work").display().to_string();
    for line in [
        format!("directory.work = {{ path = {work:?}, access = \"read-only\" }}"),
        "environment = { MODE = \"m\" }".to_owned(),
        "arguments = [\"--a\"]".to_owned(),
    ] {
        assert!(policy.contains(&line), "{line}: {policy}");
    }
    assert!(policy.starts_with("# mine\n") && !policy.contains("network"), "{policy}");
    user.run(&["allow", "notes-a.*", "--yes"]).ends(0);
    assert_eq!(user.run(&["call", "notes-a.echo"]).ends(0).out.trim(), "1.0.0 --a");
    // A second run finds everything there.
    let again = user.run(&["import", "--yes", "--json"]).ends(0).document();
    assert_eq!((&again["changed"], &found(&again, "Notes A")["state"]), (&json!(false), &json!("present")));
}

#[test]
fn secrets_are_never_shown_and_never_in_the_policy() {
    let user = user();
    let servers = json!({ "mcpServers": {
        "one": { "command": PROGRAM, "env": { "GITHUB_TOKEN": CANARY, "LANG": "C" } },
        "two": { "command": PROGRAM, "args": ["2"], "env": { "GITHUB_TOKEN": format!("{CANARY}-other") } },
        "url": { "command": PROGRAM, "env": { "DB": format!("postgres://u:{CANARY}@localhost/db") } },
        "argument": { "command": PROGRAM, "args": ["--api-key", CANARY] },
        "header": { "command": "npx", "args": ["notes@1.0.0", "--header", format!("Authorization: Bearer {CANARY}")] },
        "shell": { "command": "sh", "args": ["-c", format!("TOKEN={CANARY} x")] },
        "bad": { "command": PROGRAM, "env": [CANARY] },
        "reference": { "command": PROGRAM, "env": { "X": "${HOST_X}" } },
    } });
    user.write(".cursor/mcp.json", &servers.to_string());
    for line in [&["import", "--dry-run"][..], &["import", "--dry-run", "--json"], &["import", "--yes", "--json"]] {
        let ran = user.run(line);
        assert_no_canary(&ran);
        if line.contains(&"--json") {
            let document = ran.document();
            for name in ["argument", "header", "shell", "bad"] {
                assert_eq!(found(&document, name)["state"], "left-out", "{name}");
            }
            assert_eq!(found(&document, "two")["variables_to_set"], json!(["TWO_GITHUB_TOKEN"]));
        } else {
            assert!(ran.out.contains("one needs the variable GITHUB_TOKEN of the host"), "{}", ran.out);
        }
    }
    let policy = user.policy();
    assert!(!policy.contains(CANARY), "{policy}");
    for line in [
        "GITHUB_TOKEN = \"env:GITHUB_TOKEN\"",
        "LANG = \"C\"",
        "X = \"env:HOST_X\"",
        "\"env:TWO_GITHUB_TOKEN\"",
        "DB = \"env:DB\"",
    ] {
        assert!(policy.contains(line), "{line}: {policy}");
    }
}

#[test]
fn secrets_go_to_files_that_only_the_user_reads() {
    let user = user();
    let desk = json!({ "command": PROGRAM, "args": [user.home("work")], "env": { "API_KEY": CANARY } });
    user.write(".cursor/mcp.json", &json!({ "mcpServers": { "desk": desk } }).to_string());
    let keys = user.home("keys").display().to_string();
    let ran = user.run(&["import", "--yes", "--secrets-to", &keys]).ends(0);
    assert_no_canary(&ran);
    let file = user.home("keys/desk.API_KEY");
    assert_eq!(fs::read_to_string(&file).unwrap(), CANARY);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(user.home("keys")).unwrap().permissions().mode() & 0o777, 0o700);
    let policy = user.policy();
    assert!(
        policy.contains(&format!("API_KEY = \"file:{keys}/desk.API_KEY\"")) && !policy.contains(CANARY),
        "{policy}"
    );
    // Another secret never replaces one that is there.
    user.write("policy.toml", "");
    fs::write(&file, "mine").unwrap();
    let ran = user.run(&["import", "--yes", "--secrets-to", &keys]).ends(1);
    assert_no_canary(&ran);
    assert!(ran.out.contains("has another content"), "{}", ran.out);
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), user.policy().as_str()), ("mine", ""));
}

#[test]
fn the_entries_of_agents_are_replaced_and_a_copy_stays() {
    let user = user();
    let cursor = format!(
        "{{\n  // mine\n  \"other\": 1,\n  \"mcpServers\": {{\n    \"notes\": {},\n    \"far\": {{ \"type\": \"sse\", \"url\": \"https://x\" }}\n  }}\n}}\n",
        npx("notes@1.0.0", &[])
    );
    user.write(".cursor/mcp.json", &cursor);
    let codex =
        "model = \"x\" # mine\n\n[mcp_servers.n]\ncommand = \"npx\"\nargs = [\"notes@1.1.0\"]\n\n[tail]\nlast = 1\n";
    user.write(".codex/config.toml", codex);
    let project = user.home("app").display().to_string();
    let claude = json!({ "mcpServers": { "a": npx("notes@1.0.0", &["a"]) },
        "projects": { &project: { "x": 1, "mcpServers": { "b": npx("notes@1.0.0", &["b"]) } } } });
    user.write(".claude.json", &claude.to_string());
    fs::set_permissions(user.home(".claude.json"), fs::Permissions::from_mode(0o640)).unwrap();

    let ran = user.run(&["import", "--replace", "--yes", "--json"]).ends(0).document();
    assert_valid("import", &ran);
    assert_eq!(ran["replaced"].as_array().unwrap().len(), 3, "{ran:#}");
    let entry = |servers: &Value| -> Value { servers["portcullis"]["args"].clone() };
    let after = user.read(".cursor/mcp.json");
    assert!(after.contains("// mine") && after.contains("\"far\"") && !after.contains("notes"), "{after}");
    let codex_after = user.read(".codex/config.toml");
    assert!(codex_after.starts_with("model = \"x\" # mine\n") && codex_after.contains("[tail]"), "{codex_after}");
    assert!(
        !codex_after.contains("mcp_servers.n]") && codex_after.contains("[mcp_servers.portcullis]"),
        "{codex_after}"
    );
    let claude_after: Value = serde_json::from_str(&user.read(".claude.json")).unwrap();
    let policy = user.home("policy.toml").display().to_string();
    for servers in [&claude_after["mcpServers"], &claude_after["projects"][&project]["mcpServers"]] {
        assert_eq!(servers.as_object().unwrap().len(), 1, "{claude_after:#}");
        let arguments = entry(servers);
        let words: Vec<&str> = arguments.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert!(words.starts_with(&["serve", "--stdio"]) && words.ends_with(&["--policy", &policy]), "{words:?}");
    }
    assert_eq!(claude_after["projects"][&project]["x"], 1);
    assert_eq!(fs::metadata(user.home(".claude.json")).unwrap().permissions().mode() & 0o777, 0o640);
    for (file, before) in [
        (".cursor/mcp.json", &cursor),
        (".codex/config.toml", &codex.to_owned()),
        (".claude.json", &claude.to_string()),
    ] {
        let copy = format!("{file}.before-portcullis");
        assert_eq!(user.read(&copy), *before);
        assert_eq!(fs::metadata(user.home(&copy)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // The tools are the same for the agent that starts what was written.
    let listed = user.run(&["list"]).ends(0).out;
    assert!(listed.contains("notes.echo") && listed.contains("n.echo"), "{listed}");
    let again = user.run(&["import", "--replace", "--yes", "--json"]).ends(0).document();
    assert_eq!(again["replaced"], json!([]), "{again:#}");
    // A later import does not replace the first copy.
    let later = json!({ "mcpServers": { "later": npx("notes@1.0.0", &["l"]) } }).to_string();
    user.write(".cursor/mcp.json", &later);
    user.run(&["import", "--replace", "--yes"]).ends(0);
    let copies =
        [".cursor/mcp.json.before-portcullis", ".cursor/mcp.json.before-portcullis-2"].map(|copy| user.read(copy));
    assert_eq!(copies, [cursor, later]);
}

#[test]
fn servers_that_were_not_imported_stay_in_the_configurations() {
    let user = user();
    let servers = json!({ "mcpServers": { "gone": npx("no-such-package", &[]), "notes": npx("notes@9.9.9", &[]), "docker": { "command": "docker", "args": ["run", "x"] } } });
    user.write(".cursor/mcp.json", &servers.to_string());
    let ran = user.run(&["import", "--replace", "--yes"]).ends(1);
    assert!(ran.out.contains("outside of the confinement") && ran.out.contains("notes is left out"), "{}", ran.out);
    assert_eq!(user.read(".cursor/mcp.json"), servers.to_string());
    assert_eq!(user.policy(), "# mine\n");
}

#[test]
fn hostile_configurations_are_left_alone_and_the_others_are_imported() {
    let user = user();
    let cases: [(&str, &str, &str); 5] = [
        ("app/.mcp.json", "{ \"mcpServers\": [ broken", "it has an error"),
        (".cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"a\":{\"command\":\"y\"}}}", "`a` twice"),
        (".claude.json", "{\"mcpServers\":[]}", "not a table of servers"),
        ("app/.vscode/mcp.json", &format!("{{\"servers\":{}", "[".repeat(100_000)), "depth"),
        (".config/opencode/opencode.json", "\u{1b}[2J", "it has an error"),
    ];
    for (file, text, _) in cases {
        user.write(file, text);
    }
    user.write("elsewhere.json", &json!({ "mcp": { "x": { "command": [PROGRAM] } } }).to_string());
    symlink("../elsewhere.json", user.home("app/opencode.json")).unwrap();
    fs::create_dir_all(user.home(".config/Code/User")).unwrap();
    fs::File::create(user.home(".config/Code/User/mcp.json")).unwrap().set_len(20 << 20).unwrap();
    user.write(
        ".codex/config.toml",
        &format!("[mcp_servers.fine]\ncommand = {PROGRAM:?}\nargs = [{:?}]\n", user.home("work")),
    );
    let ran = user.run(&["import", "--replace", "--yes"]).ends(1);
    for told in
        cases.iter().map(|(_, _, told)| *told).chain(["leads out of the project", "mcp.json is left alone", "fine"])
    {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    let deceptive = ran.out.chars().find(|character| portcullis::text::is_deceptive(*character) && *character != '\n');
    assert_eq!(deceptive, None, "{}", ran.out);
    for (file, text, _) in cases {
        assert_eq!(user.read(file), text, "{file}");
    }
    assert!(user.policy().contains("[server.fine]") && user.read(".codex/config.toml").contains("portcullis"));
}

#[test]
fn a_configuration_cannot_bring_more_servers_than_a_person_reads() {
    let user = user();
    let servers: serde_json::Map<String, Value> =
        (0..150).map(|number| (format!("s{number}"), json!({ "command": PROGRAM }))).collect();
    user.write(".cursor/mcp.json", &json!({ "mcpServers": servers }).to_string());
    let planned = user.run(&["import", "--dry-run", "--json"]).ends(0).document();
    let left_out = planned["servers"].as_array().unwrap().iter().filter(|server| server["state"] == "left-out");
    assert_eq!(left_out.count(), 50);
}

#[test]
fn hostile_names_and_texts_cannot_reach_the_terminal() {
    let user = user();
    let evil = "\u{1b}[2J\u{202e}evil";
    let servers = json!({ "mcpServers": { evil: { "command": PROGRAM, "args": [evil] }, "x": { "command": evil } } });
    user.write(".cursor/mcp.json", &servers.to_string());
    let ran = user.run(&["import", "--yes"]);
    for text in [&ran.out, &ran.err] {
        let found = text.chars().find(|character| portcullis::text::is_deceptive(*character) && *character != '\n');
        assert_eq!(found, None, "{text:?}");
    }
}

#[test]
fn a_whole_home_directory_and_the_state_are_not_granted() {
    let user = user();
    let arguments = json!([user.home(""), user.site.state(), "/", user.home("nowhere"), user.home("work")]);
    let servers = json!({ "mcpServers": { "desk": { "command": PROGRAM, "args": arguments } } });
    user.write(".cursor/mcp.json", &servers.to_string());
    let ran = user.run(&["import", "--yes"]).ends(0);
    assert!(ran.out.contains("whole home directory") && ran.out.contains("does not exist"), "{}", ran.out);
    let policy = user.policy();
    assert_eq!(policy.matches("directory.").count(), 1, "{policy}");
    assert!(policy.contains("directory.work"), "{policy}");
}

#[test]
fn a_script_gets_its_project_read_only() {
    let user = user();
    user.write("project/package.json", "{}");
    let script = "require('readline').createInterface({ input: process.stdin }).on('line', line => {
        const { id, method } = JSON.parse(line);
        const result = method === 'initialize'
            ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
            : { tools: require('../lib/tools.js') };
        if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });";
    user.write("project/dist/index.js", script);
    let tools = json!([definition("echo", "From the project's library.")]);
    user.write("project/lib/tools.js", &format!("module.exports = {tools};"));
    let node = json!({ "command": "node", "args": ["dist/index.js"], "cwd": user.home("project") });
    user.write(".cursor/mcp.json", &json!({ "mcpServers": { "script": node } }).to_string());
    let imported = user.run(&["import", "--yes", "--json"]).ends(0).document();
    assert_eq!(found(&imported, "script")["start"]["tools"][0]["name"], "script.echo", "{imported:#}");
    let project = user.home("project").display().to_string();
    let line = format!("directory.project = {{ path = {project:?}, access = \"read-only\" }}");
    assert!(user.policy().contains(&line), "{}", user.policy());
}

#[test]
fn nothing_is_written_without_consent() {
    let user = user();
    let servers = json!({ "mcpServers": { "notes": npx("notes@1.0.0", &[]) } }).to_string();
    user.write(".cursor/mcp.json", &servers);
    let ran = user.run(&["import", "--replace"]).ends(2);
    assert!(ran.err.contains("--yes"), "{}", ran.err);
    assert_eq!((user.policy().as_str(), user.read(".cursor/mcp.json"), user.packages()), ("# mine\n", servers, 0));
}
