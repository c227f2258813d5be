//! Embeds the host: opens it with a directory of plugins, adds a function of its own as a tool, calls a tool, and
//! answers its approval requests.
//!
//! The function is the tool `words.count`. The policy decides on it as on the tools of plugins.
//!
//! Run it with `cargo run -p portcullis-embed -- PLUGINS STATE POLICY TOOL ARGUMENTS`.

use anyhow::Context;
use portcullis::native::{NativeAnswer, NativePlugin, NativeTool};
use portcullis::{Answer, Host, Question, Request, approver_fn};
use serde_json::json;

/// An approver that approves only reads. A real approver shows the approval request to a person.
async fn reads_only(question: Question) -> Answer {
    let reads = question.permissions.iter().all(|permission| permission.as_str() == "read");
    if reads { Answer::Yes } else { Answer::No { note: Some("this program approves reads alone".to_owned()) } }
}

/// A plugin whose only tool is a function of this program.
fn words() -> NativePlugin {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    let count = NativeTool::new("count", "Counts the words of a text.", &schema, async |_call, arguments| {
        let text = arguments["text"].as_str().unwrap_or_default();
        Ok(NativeAnswer::text(format!("{} words", text.split_whitespace().count())))
    });
    NativePlugin::new("words", "1.0.0", "Counts words.").tool(count)
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
    host.register(words()).await.context("the words are not registered")?;
    let reply = host.call(Request::new(tool, json.as_bytes()).session("example")).await;
    println!("{}: {}", reply.code, portcullis::text::Lines(&reply.message));
    Ok(())
}
