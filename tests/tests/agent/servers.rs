//! Servers that fail, and invalid responses: the agent reports the problem and exits.

use crate::agent::desk::{ALLOW, Desk, Ran};
use crate::agent::model::{Model, Say, saying};
use portcullis_tests::net::Behaviour;
use serde_json::json;

fn fails(status: u16, headers: &[(&str, &str)], body: &str) -> Say {
    Say::Raw(Behaviour::whole(status, headers, body))
}

fn raw(status: u16, body: impl AsRef<[u8]>) -> Say {
    Say::Raw(Behaviour::whole(status, &[], body))
}

/// Asserts that a run failed with this message, and made no call.
#[track_caller]
fn failed(desk: &Desk, ran: Ran, words: &str) {
    let ran = ran.ends(1);
    assert!(ran.out.is_empty() && ran.err.contains(words), "{ran:?}");
    let errors = ran.err.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "the error must be one line: {ran:?}");
    desk.recorded(&[]);
}

#[test]
fn a_server_that_is_busy_or_fails_gets_one_retry() {
    let desk = Desk::new(ALLOW);
    for (status, headers) in [(500, &[][..]), (503, &[("retry-after", "0")]), (429, &[("retry-after", "0")])] {
        let model = Model::says([fails(status, headers, "busy"), Say::Message(saying("hello"))]);
        assert_eq!(desk.work(&model, &["Say hello"]).ends(0).out, "hello\n");
        let requests = model.requests();
        assert_eq!((requests.len(), &requests[0]), (2, &requests[1]));
    }
}

#[test]
fn a_server_that_fails_twice_gets_no_further_retry() {
    let desk = Desk::new(ALLOW);
    let model = Model::says([raw(500, "first"), raw(502, "second"), Say::Message(saying("hello"))]);
    failed(&desk, desk.work(&model, &["Say hello"]), "says 502: second");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn permanent_errors_are_not_retried() {
    let desk = Desk::new(ALLOW);
    let redirect = [("location", "http://127.0.0.1:9/v1/chat/completions")];
    let rows = [
        fails(401, &[], "no such key"),
        fails(400, &[], "no such model"),
        fails(307, &redirect, "elsewhere"),
        // The agent does not wait for an hour.
        fails(429, &[("retry-after", "3600")], "too many"),
    ];
    for row in rows {
        let model = Model::says([row, Say::Message(saying("hello"))]);
        failed(&desk, desk.work(&model, &["Say hello"]), "the model's server says ");
        assert_eq!(model.requests().len(), 1);
    }
}

#[test]
fn an_invalid_response_ends_the_run() {
    let desk = Desk::new(ALLOW);
    let bodies = [
        "",
        "hello",
        "{",
        "null",
        "[]",
        "{}",
        r#"{"choices":[]}"#,
        r#"{"choices":[{"message":null}]}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":7,"tool_calls":7}}]}"#,
        r#"{"error":{"message":"no"}}"#,
    ];
    for body in bodies {
        let model = Model::says([raw(200, body), Say::Message(saying("hello"))]);
        failed(&desk, desk.work(&model, &["Say hello"]), "error: ");
        assert_eq!(model.requests().len(), 1, "{body}");
    }
    let model = Model::says([raw(200, b"\xff\xfe{}")]);
    failed(&desk, desk.work(&model, &["Say hello"]), "not text");
}

#[test]
fn an_endless_response_is_cut_off() {
    let desk = Desk::new(ALLOW);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[";
    let model = Model::behaves(Behaviour::flood(head, vec![b' '; 64 * 1024]));
    failed(&desk, desk.work(&model, &["Say hello"]), "larger than 1048576 bytes");
    let model = Model::behaves(Behaviour::flood("HTTP/1.1 200 OK\r\n", "x-more: and more\r\n"));
    failed(&desk, desk.work(&model, &["Say hello"]), "the exchange failed");
}

#[test]
fn a_silent_server_times_out() {
    let desk = Desk::new(ALLOW);
    let model = Model::behaves(Behaviour::Silent);
    failed(&desk, desk.work(&model, &["--seconds", "1", "Say hello"]), "not answered in 1 s");
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n[";
    let model = Model::behaves(Behaviour::drip(head, " ", std::time::Duration::from_millis(50)));
    failed(&desk, desk.work(&model, &["--seconds", "1", "Say hello"]), "not answered in 1 s");
}

#[test]
fn a_server_that_disconnects_ends_the_run() {
    let desk = Desk::new(ALLOW);
    for behaviour in [Behaviour::Reset, Behaviour::Say(Vec::new()), Behaviour::Say(b"SSH-2.0-x\r\n".to_vec())] {
        let model = Model::behaves(behaviour);
        failed(&desk, desk.work(&model, &["Say hello"]), "the model's server: ");
    }
    let url = Model::answers([]).url();
    let gone = desk.command(&url, &["--seconds", "5", "Say hello"]).output().unwrap();
    assert_eq!(gone.status.code(), Some(1), "{gone:?}");
}

/// Nothing is sent to a server whose certificate is not trusted.
#[test]
fn a_server_with_an_untrusted_certificate_gets_no_request() {
    let desk = Desk::new(ALLOW);
    let model = Model::unknown(saying("hello"));
    let output = desk.command(&model.tls_url(), &["Say hello"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("its identity cannot be verified"), "{said}");
    assert!(output.stdout.is_empty() && model.requests().is_empty());
}

/// Some servers repeat an unknown key in their error.
#[test]
fn a_key_is_not_shown() {
    let desk = Desk::new(ALLOW);
    let body = json!({ "error": { "message": "no such key: sk-of-a-test\u{1b}[2J" } });
    let model = Model::says([raw(401, body.to_string()), raw(401, "sk-of-a-test")]);
    for _ in 0..2 {
        let ran = desk.work(&model, &["Say hello"]).ends(1);
        assert!(!ran.err.contains("sk-of-a-test") && ran.err.contains("[the key]"), "{ran:?}");
    }
}

/// The checks happen before anything is sent.
#[test]
fn an_invalid_environment_is_reported() {
    let desk = Desk::new(ALLOW);
    let local = "http://127.0.0.1:9/v1";
    let rows = [
        (desk.command("", &["task"]), "OPENAI_BASE_URL"),
        (desk.command("localhost:11434", &["task"]), "OPENAI_BASE_URL"),
        (desk.command("https://user:password@127.0.0.1/v1", &["task"]), "OPENAI_BASE_URL"),
        (desk.command("http://192.0.2.1/v1", &["task"]), "sent unencrypted"),
        (desk.command(local, &[]), "TASK"),
        (desk.command(local, &["--seconds", "0", "task"]), "--seconds"),
    ];
    for (mut command, words) in rows {
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(words), "{words}: {said}");
        assert!(!said.contains("password"), "{said}");
    }
    let mut nameless = desk.command(local, &["task"]);
    let output = nameless.env_remove("OPENAI_MODEL").output().unwrap();
    assert!(output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("OPENAI_MODEL"));
    let mut odd = desk.command(local, &["task"]);
    let output = odd.env("OPENAI_API_KEY", "two\nlines").output().unwrap();
    assert!(output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("OPENAI_API_KEY"));
}
