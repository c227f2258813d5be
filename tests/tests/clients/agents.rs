//! Agent frameworks: LangChain through its adapters, and the OpenAI Agents SDK with the program in `docs/agents.md`.

use crate::office::{ASKING, DENYING, Office, PATIENCE, succeeded};
use crate::script::{LEGACY, MODERN, run, script, told, told_to_connect, told_to_start, with};
use crate::settings;
use serde_json::Value;
use std::process::Stdio;
use std::time::Instant;

fn assert_called(office: &Office) {
    let expected = [("echo", "completed"), ("add", "completed"), ("fail", "failed"), ("note", "denied")];
    let expected = expected.map(|(tool, outcome)| (format!("clerk.{tool}"), outcome.to_owned()));
    assert_eq!(office.settled(), expected);
}

#[test]
fn langchain_over_pipes() {
    let office = Office::new(DENYING);
    run(&office, LEGACY, "langchain_tools", &told_to_start(&office, &["--list-denied"]));
    assert_called(&office);
}

#[test]
fn langchain_over_http() {
    let office = Office::new(DENYING);
    let server = office.listen(&["--list-denied"]);
    run(&office, LEGACY, "langchain_tools", &told_to_connect(&office, &server));
    assert_called(&office);
}

/// A whole turn: the model calls a tool, the call waits, a person approves it at another terminal, and the model reads
/// the result and repeats it.
#[test]
fn the_program_of_the_page_completes_a_turn_with_an_approval() {
    let office = Office::new(ASKING);
    office.compile();
    let program = settings::block("python", "MCPServerStdio");
    let told = with(told(&office), &[("program", program.into())]);
    let mut script = script(&office, MODERN, "agents_turn", &told);
    let turn = script.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let question = question(&office);
    assert_eq!(office.notes(), "", "a note was written before the approval");
    office.portcullis(&["approvals", "approve", &question, "--yes"]);
    let said = succeeded(&turn.wait_with_output().unwrap());
    assert!(said.contains("The tool said: kept: the seal is in the drawer"), "{said}");
    assert_eq!(office.settled(), [("clerk.note".to_owned(), "completed".to_owned())]);
}

/// Waits for the only open approval request. Returns its ID.
fn question(office: &Office) -> String {
    let began = Instant::now();
    loop {
        // Until the server has started, there is nothing to list, and listing is an error.
        let listing: Value = serde_json::from_slice(&office.ran(&["approvals", "list"]).stdout).unwrap_or_default();
        if let Some([question]) = listing["questions"].as_array().map(Vec::as_slice) {
            return question["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < PATIENCE, "no approval request: {listing}");
    }
}
