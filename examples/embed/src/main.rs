//! Embeds the host: opens it with a directory of plugins, calls a tool, and answers its approval requests.
//!
//! Run it with `cargo run -p portcullis-embed -- PLUGINS STATE POLICY TOOL ARGUMENTS`.

use anyhow::Context;
use portcullis::{Answer, Host, Question, Request, approver_fn};

/// An approver that approves only reads. A real approver shows the approval request to a person.
async fn reads_only(question: Question) -> Answer {
    let reads = question.permissions.iter().all(|permission| permission.as_str() == "read");
    if reads { Answer::Yes } else { Answer::No { note: Some("this program approves reads alone".to_owned()) } }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "printing the reply is what this program is for")]
async fn main() -> anyhow::Result<()> {
    portcullis::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plugins, state, policy, tool, json] = arguments.as_slice() else {
        anyhow::bail!("usage: portcullis-embed PLUGINS STATE POLICY TOOL ARGUMENTS");
    };
    let host = Host::builder(plugins, state)
        .policy_file(policy)
        .approver(approver_fn(reads_only))
        .open()
        .await
        .context("the host does not open")?;
    let reply = host.call(Request::new(tool, json.as_bytes()).session("example")).await;
    println!("{}: {}", reply.code, portcullis::text::Lines(&reply.message));
    Ok(())
}
