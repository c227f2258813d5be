//! The commands `portcullis login` and `portcullis logout`.

use super::office::LoginOffice;
use super::user;
use crate::schema::assert_valid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

fn run(office: &LoginOffice, arguments: &[&str]) -> (Option<i32>, String) {
    let output = office.site.command(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

/// Logs in with the program, and plays the user's browser.
async fn log_in(mut command: Command) -> (Option<i32>, String) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    let page = loop {
        let mut line = String::new();
        assert!(notes.read_line(&mut line).unwrap() > 0, "{told}");
        told.push_str(&line);
        if let Some(page) = line.trim().strip_prefix("open this page: ") {
            break page.to_owned();
        }
    };
    assert!(user::visit(&page).await.contains("You can close this window"));
    let mut shown = String::new();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    notes.read_to_string(&mut told).unwrap();
    (child.wait().unwrap().code(), told + &shown)
}

#[tokio::test]
async fn a_server_is_added_logged_in_to_listed_and_logged_out_of() {
    let office = LoginOffice::new("honest");
    fs::write(office.site.path("policy.toml"), "").unwrap();
    let (code, text) = run(&office, &["server", "add", "desk", "--url", &office.mcp, "--oauth", "--yes"]);
    assert!(code == Some(7) && text.contains("run `portcullis login desk`"), "{code:?}\n{text}");
    let (_, text) = run(&office, &["server", "list"]);
    assert!(text.contains(&office.mcp) && text.contains("none: run `portcullis login desk`"), "{text}");
    let command = office.site.command(&["login", "desk", "--yes", "--no-browser", "--json"]);
    let (code, text) = log_in(command).await;
    assert_eq!(code, Some(0), "{text}");
    let document: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_valid("login", &document);
    assert_eq!((&document["login"]["state"], &document["start"]["starts"]), (&"logged-in".into(), &true.into()));
    let (_, text) = run(&office, &["server", "list"]);
    assert!(text.contains(&format!("at {}", office.issuer)), "{text}");
    let (code, text) = run(&office, &["call", "desk.echo", r#"{"text":"hello"}"#, "--json"]);
    assert!(text.contains("approval"), "{code:?}\n{text}");
    let (_, text) = run(&office, &["server", "remove", "desk"]);
    assert!(text.contains("run `portcullis logout desk` before"), "{text}");
    let (code, text) = run(&office, &["logout", "desk", "--json"]);
    let document: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_valid("logout", &document);
    assert_eq!((code, &document["revoked"]), (Some(0), &true.into()), "{text}");
    let (code, text) = run(&office, &["login", "nobody", "--yes", "--json"]);
    assert!(code != Some(0) && text.contains("login-failed"), "{code:?}\n{text}");
}
