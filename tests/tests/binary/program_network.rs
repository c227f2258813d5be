//! The network of a program: real git and pip through the proxy, to servers on loopback, under an HTTP binding.

use crate::binary::desk::Desk;
use portcullis_tests::net::{Authority, Behaviour, Dns, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ALLOW: &str = "[[rule]]\ntool = \"shell.*\"\ndecision = \"allow\"\n";

/// A site whose shell reaches what `fetch` names. The names of `dns` are those of the host's network.
fn desk(dns: &Dns, fetch: &str, more: &str) -> Desk {
    Desk::with_shell(&format!(
        "[network]\nname-servers = [\"{}\"]\n[plugin.shell]\n\
         process.sh = {{ program = \"/bin/bash\", directories = [\"workspace\"], http = \"fetch\" }}\n\
         http.fetch = {{ {fetch}, addresses = [\"127.0.0.0/8\"] }}\n\
         directory.workspace = {{ path = \"work\", access = \"read-write\" }}\n{more}\n{ALLOW}",
        dns.address()
    ))
}

/// Runs a command. Returns the answer's text.
#[track_caller]
fn run(desk: &Desk, command: &str) -> String {
    let reply = desk.call("shell.run", &json!({ "command": command }), 0);
    reply["output"]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// Returns the requests of all calls, as the audit log has them: method, URL, and status or error.
fn recorded(desk: &Desk) -> Vec<String> {
    let entries = desk.run(&["audit", "show", "--json"]).ends(0).out;
    let mut found = Vec::new();
    for line in entries.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_default();
        collect(&entry, &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    if let (Some(method), Some(url)) = (value["method"].as_str(), value["url"].as_str()) {
        found.push(format!("{method} {url} {}{}", value["status"], value["error"]));
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|field| collect(field, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Serves the files below a directory.
fn files_of(root: &Path) -> Behaviour {
    let root = root.to_owned();
    Behaviour::answer(move |request| {
        let head = String::from_utf8_lossy(request);
        let path = head.split_whitespace().nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default().trim_start_matches('/');
        let place: PathBuf = root.join(path);
        let place = if place.is_dir() { place.join("index.html") } else { place };
        match fs::read(place) {
            Ok(bytes) => Behaviour::whole(200, &[], bytes),
            Err(_) => Behaviour::whole(404, &[], "nothing here"),
        }
    })
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("AUTHOR", "Ann"), ("COMMITTER", "Ann")] {
        command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "ann@a.example");
    }
    command
}

#[test]
fn git_clones_over_https_through_the_proxy_and_reaches_nothing_else() {
    let dns = Dns::start();
    dns.point("git.test", &["127.0.0.1"]);
    dns.point("evil.test", &["127.0.0.1"]);
    let served = tempfile::tempdir().unwrap();
    let (source, bare) = (served.path().join("source"), served.path().join("shop.git"));
    fs::create_dir_all(&source).unwrap();
    succeeds(git(&source).args(["init", "--quiet", "--initial-branch=main"]));
    fs::write(source.join("shop.txt"), "bread\n").unwrap();
    succeeds(git(&source).args(["add", "."]));
    succeeds(git(&source).args(["commit", "--quiet", "-m", "Open the shop"]));
    succeeds(git(served.path()).args(["clone", "--quiet", "--bare", "source", "shop.git"]));
    succeeds(git(&bare).args(["update-server-info"]));
    let authority = Authority::new("Portcullis tests");
    let server = Server::tls(authority.serves(&["git.test", "evil.test"]), files_of(served.path()));
    let port = server.port();
    let desk = desk(&dns, &format!("hosts = [\"git.test\"], methods = [\"GET\", \"CONNECT\"], ports = [{port}]"), "");
    fs::write(desk.site.path("work/ca.pem"), authority.pem()).unwrap();
    let text = run(
        &desk,
        &format!(
            "export GIT_SSL_CAINFO=$PWD/ca.pem; git clone --quiet https://git.test:{port}/shop.git && cat shop/shop.txt && \
             git -C shop log --format=%s"
        ),
    );
    assert!(text.starts_with("bread\nOpen the shop\n[exit code 0"), "{text}");
    // Another host on the same server, the server by its address, another port, and DNS.
    let text = run(
        &desk,
        &format!(
            "export GIT_SSL_CAINFO=$PWD/ca.pem; git clone --quiet https://evil.test:{port}/shop.git a; \
             git clone --quiet https://127.0.0.1:{port}/shop.git b; git clone --quiet https://git.test:1/shop.git c; \
             env -u https_proxy -u HTTPS_PROXY git clone --quiet https://git.test:{port}/shop.git d; \
             python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))' 2>&1 | tail -1; \
             python3 -c 'import socket; socket.getaddrinfo(\"git.test\", 1)' 2>&1 | tail -1; ls"
        ),
    );
    assert!(text.contains(&format!("The sandbox refused: CONNECT https://evil.test:{port}/: ")), "{text}");
    assert!(text.contains("127.0.0.1:") && text.contains("git.test:1"), "{text}");
    assert!(text.contains("Connection refused") && text.contains("Could not resolve host"), "{text}");
    assert_eq!(text.matches("Cloning").count(), 0, "{text}");
    let recorded = recorded(&desk);
    assert!(
        recorded.iter().any(|line| line.starts_with(&format!("CONNECT https://git.test:{port}/ 200"))),
        "{recorded:?}"
    );
    assert!(recorded.iter().any(|line| line.contains("evil.test") && line.contains("null\"")), "{recorded:?}");
    assert!(!dns.asked().contains(&"evil.test".to_owned()), "a refused name is not looked up");
    desk.verifies();
}

#[test]
fn pip_installs_from_an_index_that_the_policy_names() {
    let dns = Dns::start();
    dns.point("pypi.test", &["127.0.0.1"]);
    let served = tempfile::tempdir().unwrap();
    let wheel = "demo-1.0-py3-none-any.whl";
    let make = format!(
        "import zipfile\n\
         wheel = zipfile.ZipFile('{wheel}', 'w')\n\
         wheel.writestr('demo.py', 'word = \"installed\"\\n')\n\
         wheel.writestr('demo-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n')\n\
         tags = 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'\n\
         wheel.writestr('demo-1.0.dist-info/WHEEL', tags)\n\
         wheel.writestr('demo-1.0.dist-info/RECORD', '')\n\
         wheel.close()\n"
    );
    succeeds(Command::new("python3").args(["-c", &make]).current_dir(served.path()));
    fs::create_dir_all(served.path().join("simple/demo")).unwrap();
    fs::write(served.path().join("simple/demo/index.html"), format!("<a href=\"/{wheel}\">{wheel}</a>")).unwrap();
    let behaviour = files_of(served.path());
    let Behaviour::Answer(answer) = behaviour else { panic!("it answers") };
    // pip reads an index only if it is HTML.
    let server = Server::plain(Behaviour::answer(move |request| {
        let response = answer(request);
        let text = String::from_utf8_lossy(&response).replacen(
            "content-length",
            "content-type: text/html\r\ncontent-length",
            1,
        );
        if text.contains("<a href") { text.into_bytes() } else { response }
    }));
    let port = server.port();
    // The Python of the machine may be anywhere.
    let prefix = Command::new("python3").args(["-c", "import sys; print(sys.base_prefix)"]).output().unwrap().stdout;
    let prefix = String::from_utf8(prefix).unwrap().trim().to_owned();
    let fetch = format!("hosts = [\"pypi.test\"], schemes = [\"http\"], ports = [{port}]");
    let policy = format!(
        "[network]\nname-servers = [\"{}\"]\n[plugin.shell]\n\
         process.sh = {{ program = \"/bin/bash\", directories = [\"workspace\", \"interpreter\"], http = \"fetch\" }}\n\
         http.fetch = {{ {fetch}, addresses = [\"127.0.0.0/8\"] }}\n\
         directory.workspace = {{ path = \"work\", access = \"read-write\" }}\n\
         directory.interpreter = {{ path = \"{prefix}\" }}\n{ALLOW}",
        dns.address()
    );
    let desk = Desk::with_shell(&policy);
    let text = run(
        &desk,
        &format!(
            "{prefix}/bin/python3 -m pip install --quiet --disable-pip-version-check --trusted-host pypi.test \
             --index-url http://pypi.test:{port}/simple --target lib demo 2>&1; \
             PYTHONPATH=lib {prefix}/bin/python3 -c 'import demo; print(demo.word)'"
        ),
    );
    assert!(text.contains("installed\n"), "{text}");
    assert!(recorded(&desk).iter().any(|line| line == &format!("GET http://pypi.test:{port}/{wheel} 200null")));
    // A plain request is decided like a guest's: by method, and by host.
    let text = run(&desk, &format!("curl -s -d x http://pypi.test:{port}/; curl -s http://other.test:{port}/"));
    assert!(
        text.contains("The sandbox refused: POST http://pypi.test") && text.contains("GET http://other.test"),
        "{text}"
    );
    assert!(server.texts().iter().all(|text| text.starts_with("GET")), "{:?}", server.texts());
}

#[test]
fn a_tunnel_ends_at_the_limits_of_its_client_and_the_answer_says_so() {
    let dns = Dns::start();
    dns.point("big.test", &["127.0.0.1"]);
    let authority = Authority::new("Portcullis tests");
    let body = vec![b'x'; 512 * 1024];
    let server =
        Server::tls(authority.serves(&["big.test"]), Behaviour::answer(move |_| Behaviour::whole(200, &[], &body)));
    let port = server.port();
    let fetch = format!(
        "hosts = [\"big.test\"], methods = [\"GET\", \"CONNECT\"], ports = [{port}], response-bytes = \"64 KiB\", requests = 2"
    );
    let desk = desk(&dns, &fetch, "");
    fs::write(desk.site.path("work/ca.pem"), authority.pem()).unwrap();
    let text =
        run(&desk, &format!("for i in 1 2 3; do curl -s --cacert ca.pem https://big.test:{port}/ | wc -c; done"));
    assert!(text.contains("the response's body is longer than 65536 bytes"), "{text}");
    assert!(text.contains("limit of 2 requests"), "{text}");
    assert!(!text.contains("524288"), "{text}");
}

#[test]
fn a_program_without_a_network_learns_which_host_it_lacks() {
    let desk = Desk::with_shell(&format!("[plugin.shell]\nprocess.sh = {{ program = \"/bin/bash\" }}\n{ALLOW}"));
    let text = run(&desk, "curl -s https://crates.test/api; curl -s http://a.test/b");
    assert!(
        text.contains("The sandbox refused: CONNECT https://crates.test/: no network to it: the policy gives this program no network"),
        "{text}"
    );
    assert!(text.contains("GET http://a.test/b: no network to it: the policy gives this program no network"), "{text}");
    // The program's own servers are reached without the proxy.
    let text = run(
        &desk,
        "python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 & \
         for i in $(seq 100); do curl -sf http://127.0.0.1:8000/ -o page && break; sleep 0.05; done; grep -c Directory page",
    );
    assert!(text.starts_with('2'), "{text}");
}

#[test]
fn a_network_that_a_program_cannot_have_is_refused_when_the_host_opens() {
    for (fetch, told) in [
        ("{ hosts = [\"a.example\"] }", "\"CONNECT\" in the methods of `fetch`"),
        ("{ hosts = [\"a.example\"], schemes = [\"http\"], narrow = \"/url\" }", "all of `fetch`"),
        ("{ hosts = [\"a.example\"], methods = [\"GET\", \"CONNECT\"], paths = [\"/api\"] }", "tunnels"),
        ("{ hosts = [\"a.example\"], methods = [\"CONNECT\"], headers = [] }", "tunnels"),
    ] {
        let desk = Desk::with_shell(ALLOW);
        desk.policy(&format!(
            "[plugin.shell]\nprocess.sh = {{ program = \"/bin/bash\", http = \"fetch\" }}\nhttp.fetch = {fetch}\n{ALLOW}"
        ));
        let ran = desk.run(&["list"]);
        assert!(ran.code != Some(0) && ran.err.contains(told), "{fetch}: {} {}", ran.out, ran.err);
    }
}
