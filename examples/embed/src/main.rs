//! Embed the host: open it over a directory of plugins, call a tool, and answer when the policy says ask.
//!
//! Run it with `cargo run -p portcullis-embed -- PLUGINS STATE POLICY TOOL ARGUMENTS`.

use anyhow::Context;
use portcullis::{Answer, Answering, Approver, Compiler, Host, Question, Request};
use std::sync::Arc;

/// Says yes to reads and no to everything else. A real one shows the question to a person.
struct ReadsOnly;

impl Approver for ReadsOnly {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        let read = question.permissions.iter().all(|permission| permission.as_str() == "read");
        let note = Some("this program approves reads alone".to_owned());
        Box::pin(std::future::ready(if read { Answer::Yes } else { Answer::No { note } }))
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "printing the reply is what this program is for")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plugins, state, policy, tool, json] = arguments.as_slice() else {
        anyhow::bail!("usage: portcullis-embed PLUGINS STATE POLICY TOOL ARGUMENTS");
    };
    // A program of its own would compile in a worker process, as the command line does: `Compiler::Worker`.
    let host = Host::builder(plugins, state, Compiler::InProcess)
        .policy_file(policy)
        .approver(Arc::new(ReadsOnly))
        .open()
        .await
        .context("the host does not open")?;
    let reply = host.call(Request::new(tool, json.as_bytes()).session("example")).await;
    println!("{}: {}", reply.code, portcullis::text::Lines(&reply.message));
    Ok(())
}
