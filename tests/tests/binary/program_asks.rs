//! A program that lacks a host or a directory: a person allows it for one run, and only a person.

use crate::binary::console::Session;
use crate::binary::desk::Desk;
use portcullis_tests::net::{Behaviour, Dns, Server};
use serde_json::{Value, json};
use std::fs;

const ALLOW: &str = "[[rule]]\ntool = \"shell.*\"\ndecision = \"allow\"\n";

/// A site whose shell may ask for more than its directory and `named.test`.
fn desk(dns: &Dns, server: &Server) -> Desk {
    for name in ["named.test", "extra.test"] {
        dns.point(name, &["127.0.0.1"]);
    }
    Desk::with_shell(&format!(
        "[network]\nname-servers = [\"{}\"]\n[plugin.shell]\n\
         process.sh = {{ program = \"/bin/bash\", directories = [\"workspace\"], http = \"fetch\", escalate = \"ask\" }}\n\
         http.fetch = {{ hosts = [\"named.test\"], schemes = [\"http\"], ports = [{}], addresses = [\"127.0.0.0/8\"] }}\n\
         directory.workspace = {{ path = \"work\" }}\n{ALLOW}",
        dns.address(),
        server.port()
    ))
}

fn page() -> Server {
    Server::plain(Behaviour::answer(|_| Behaviour::whole(200, &[], "the page\n")))
}

/// Makes a call without an approver.
#[track_caller]
fn unattended(desk: &Desk, arguments: &Value) -> String {
    desk.run(&["--json", "call", "shell.run", &arguments.to_string(), "--no-ask"]).out
}

/// Returns what the terminal shows before its prompt, without the spaces and line breaks of its layout.
fn asked(session: &mut Session) -> String {
    session.until("? [y/n/?] ").split_whitespace().collect()
}

#[test]
fn a_person_allows_one_host_for_one_run() {
    let (dns, server) = (Dns::start(), page());
    let desk = desk(&dns, &server);
    let port = server.port();
    let call =
        json!({ "command": format!("curl -sf http://extra.test:{port}/a && curl -s http://other.test:{port}/") });
    let mut session = Session::of(&desk, "shell.run", &call);
    let question = asked(&mut session);
    assert!(question.contains(&format!("anyrequeststoextra.test:{port},foronerunof")), "{question}");
    assert!(question.contains("withthearguments[\"-c\",\"curl-sfhttp://extra.test"), "{question}");
    assert!(question.contains("asthehostwillgrantit") && !question.contains("[a]"), "{question}");
    session.types("y\n");
    let shown = session.ends(0);
    assert!(shown.contains(&format!("A person allowed extra.test:{port} for one more run:")), "{shown}");
    assert!(shown.contains("the page") && shown.contains("GET http://other.test"), "{shown}");
    assert_eq!(server.texts().len(), 1);
    // The approval is spent, whatever was typed.
    let call = json!({ "command": format!("curl -sf http://extra.test:{port}/a") });
    assert!(unattended(&desk, &call).contains("The sandbox refused: GET http://extra.test"));
    let mut session = Session::of(&desk, "shell.run", &call);
    asked(&mut session);
    session.types("a\n");
    assert!(session.ends(0).contains("the page"));
    let remembered = desk.run(&["approvals", "list", "--json"]).ends(0).out;
    assert!(!remembered.contains("extra.test"), "{remembered}");
    assert!(unattended(&desk, &call).contains("The sandbox refused: GET http://extra.test"));
    desk.verifies();
}

#[test]
fn without_an_approval_the_answer_of_the_first_run_stays() {
    let (dns, server) = (Dns::start(), page());
    let desk = desk(&dns, &server);
    let call = json!({ "command": format!("echo begun; curl -sf http://extra.test:{}/a", server.port()) });
    let mut session = Session::of(&desk, "shell.run", &call);
    asked(&mut session);
    session.types("n\n");
    let shown = session.ends(0);
    assert_eq!(shown.matches("begun").count(), 1, "{shown}");
    assert!(shown.contains("The sandbox refused: GET http://extra.test") && shown.contains("[exit code 22"), "{shown}");
    server.saw_nothing();
}

#[test]
fn a_person_allows_one_directory_for_one_run_and_never_the_hosts_own() {
    let (dns, server) = (Dns::start(), page());
    let desk = desk(&dns, &server);
    let more = desk.site.directory("more").canonicalize().unwrap();
    fs::write(more.join("note.txt"), "a note\n").unwrap();
    let read = json!({ "command": format!("cat {0}/note.txt; touch {0}/new", more.display()), "needs_read": more });
    assert!(unattended(&desk, &read).contains("not approved"));
    let mut session = Session::of(&desk, "shell.run", &read);
    let question = asked(&mut session);
    assert!(question.contains(&format!("read-onlyaccessto{},foronerunof", more.display())), "{question}");
    session.types("y\n");
    let shown = session.ends(0);
    assert!(shown.contains("a note") && shown.contains("Read-only file system"), "{shown}");
    let command = format!("echo new > {0}/new && cat {0}/new", more.display());
    let write = json!({ "command": command, "directory": "/workspace", "needs_write": more });
    let mut session = Session::of(&desk, "shell.run", &write);
    let question = asked(&mut session);
    assert!(question.contains("read-writeaccessto") && question.contains("in\"/workspace\""), "{question}");
    session.types("y\n");
    assert!(session.ends(0).contains("[exit code 0"));
    assert_eq!(fs::read_to_string(more.join("new")).unwrap(), "new\n");
    // No person can allow these, so none is asked.
    for (name, place, told) in [
        ("needs_read", desk.site.state(), "state directory"),
        ("needs_write", desk.site.plugins(), "change its own rights"),
        ("needs_write", desk.site.path(""), "state directory"),
        ("needs_read", desk.site.path("none"), "cannot be"),
        ("needs_read", "more".into(), "absolute path"),
        ("needs_read", "/proc".into(), "no plugin may access"),
    ] {
        let call = json!({ "command": "true", name: place });
        let reply = unattended(&desk, &call);
        assert!(reply.contains(told) && !reply.contains("not approved"), "{name}: {reply}");
    }
    let both = json!({ "command": "true", "needs_read": more, "needs_host": "a.test:80" });
    assert!(unattended(&desk, &both).contains("one thing at a time"));
    desk.verifies();
}

#[test]
fn the_policy_decides_whether_a_program_may_ask() {
    let (dns, server) = (Dns::start(), page());
    let desk = desk(&dns, &server);
    let call = json!({ "command": "true", "needs_host": "extra.test:80" });
    // An allow rule is no person, and a deny rule holds.
    assert!(unattended(&desk, &call).contains("not approved"));
    let reply = unattended(&desk, &json!({ "command": "true", "needs_host": "10.0.0.1:80" }));
    assert!(reply.contains("no approval can let a program reach 10.0.0.1"), "{reply}");
    desk.policy(&format!("[plugin.shell]\nprocess.sh = {{ program = \"/bin/bash\" }}\n{ALLOW}"));
    let reply = unattended(&desk, &call);
    assert!(reply.contains("does not let this program ask"), "{reply}");
}
