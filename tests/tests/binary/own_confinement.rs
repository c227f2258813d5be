//! The process of `serve` and `call`: what it gives up once everything is open, and that it still works.

use crate::binary::desk::{Desk, OPEN};
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::{Manifest, allow_all, built_guest, guest};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take for something that it does by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a field of the status of each thread of a process.
fn threads(process: u32, field: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let statuses = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let value = |status: String| {
        let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
        line.split_whitespace().nth(1).unwrap_or_default().to_owned()
    };
    statuses.map(value).collect()
}

/// Starts a server over stdin and stdout. Returns it once it serves, with what it prints to stderr from then on.
fn serve(desk: &Desk) -> (Child, impl Iterator<Item = String>) {
    let mut command = desk.command();
    command.args(["serve", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("over stdin and stdout")).unwrap();
    (server, lines)
}

#[test]
fn a_server_confines_all_of_its_threads_and_still_compiles_a_new_plugin() {
    let desk = Desk::new(OPEN);
    let (mut server, _lines) = serve(&desk);
    let process = server.id();
    for (field, value) in [("NoNewPrivs:", "1"), ("Seccomp:", "2")] {
        let found = threads(process, field);
        assert!(found.len() > 2 && found.iter().all(|found| found == value), "{field} {found:?}");
    }
    // The compile worker is started by a process that was started before.
    desk.site.plugin("late", &guest("good", &Manifest::of("late")));
    let (mut requests, answers) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let mut answers = BufReader::new(answers).lines().map_while(Result::ok);
    let mut ask = |id: u32, method: &str, parameters: Value| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters });
        writeln!(requests, "{request}").unwrap();
        let wanted = format!("\"id\":{id}");
        answers.find(|answer| answer.contains(&wanted)).unwrap()
    };
    let client = json!({ "name": "test", "version": "1" });
    ask(1, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
    let began = Instant::now();
    for id in 2.. {
        if ask(id, "tools/list", json!({})).contains("late__run") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "the plugin is not listed");
        std::thread::sleep(Duration::from_millis(50));
    }
    let called = ask(1_000_000, "tools/call", json!({ "name": "late__run", "arguments": {} }));
    assert!(called.contains("\"isError\":false") || !called.contains("isError"), "{called}");
    drop(requests);
    assert!(server.wait().unwrap().success());
    desk.verifies();
}

#[test]
fn the_policy_decides_whether_the_process_is_confined() {
    let desk = Desk::new(&format!("{OPEN}\n[host]\nconfine = \"off\"\n"));
    let (mut server, _lines) = serve(&desk);
    assert!(threads(server.id(), "Seccomp:").iter().all(|found| found == "0"));
    drop(server.stdin.take());
    server.wait().unwrap();
    // A policy with commands of its own needs their files, which `require` does not allow.
    let commands = "[approvals]\nnotify = [\"true\"]\n";
    desk.policy(&format!("{OPEN}\n{commands}"));
    desk.call("files.read", &json!({ "path": "poem.txt" }), 0);
    desk.policy(&format!("{OPEN}\n{commands}[host]\nconfine = \"require\"\n"));
    let refused = desk.run(&["call", "files.read", r#"{"path":"poem.txt"}"#]);
    assert!(refused.code != Some(0) && refused.err.contains("`notify` runs a command"), "{}", refused.err);
    desk.policy(&format!("{OPEN}\n[host]\nconfine = \"require\"\n"));
    let read = desk.call("files.read", &json!({ "path": "poem.txt" }), 0);
    assert!(read["output"]["text"].as_str().unwrap_or_default().contains("roses are red"), "{read}");
    let doctor = desk.run(&["doctor"]).out;
    assert!(doctor.contains("own process") && doctor.contains("give up what the policy does not name"), "{doctor}");
}

/// Code that breaks out of the engine runs in the process of the host.
#[test]
fn code_in_the_process_of_the_host_reaches_only_what_the_policy_names() {
    let desk = Desk::new(OPEN);
    desk.site.plugin("service", &built_guest("service"));
    let (named, other) = (Server::plain(Behaviour::ok()), Server::plain(Behaviour::ok()));
    let secret = desk.site.directory("home/.ssh").join("id_ed25519");
    fs::write(&secret, "secret").unwrap();
    let policies = desk.site.directory("policies");
    let policy = policies.join("policy.toml");
    fs::write(
        &policy,
        format!(
            "{}[plugin.service]\nservice.search = {{ name = \"escape\" }}\n[plugin.files]\n\
             directory.workspace = {{ path = \"{}\", access = \"read-write\" }}\n[plugin.web]\n\
             http.fetch = {{ hosts = [\"127.0.0.1\"], schemes = [\"http\"], ports = [{}] }}\n",
            allow_all("time = \"20 s\""),
            desk.site.path("work").display(),
            named.port()
        ),
    )
    .unwrap();
    let mut escape = Command::new(env!("CARGO_BIN_EXE_portcullis-tests-escape"));
    escape.args([&desk.site.plugins(), &desk.site.state(), &policy, &secret, &desk.site.path("work")]);
    escape.args([named.port().to_string(), other.port().to_string()]);
    let output = escape.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let [before, gave_up, after] = lines[..] else { panic!("{output:?}") };
    for what in ["read a file of the user", "start a program", "connect to a new port", "list the root", "listen"] {
        assert!(before.contains(what), "the attempt works where nothing confines it: {what}: {before}");
    }
    assert_eq!(gave_up, "gave up Ok(Everything)");
    let named = "use what the policy names";
    let allowed = json!([{ "ok": json!([named, named]).to_string() }]);
    assert_eq!(after.strip_prefix("after "), Some(&*allowed.to_string()), "{after}");
    assert!(secret.parent().is_some_and(Path::exists) && fs::read_to_string(&secret).unwrap() == "secret");
}
