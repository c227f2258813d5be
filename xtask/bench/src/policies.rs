//! The two policies between which the cost of a decision is measured, and a ledger as a busy person leaves it.

use anyhow::{Result, ensure};
use portcullis::approvals::Answering;
use portcullis::policy::Unattended;
use portcullis::{Answer, Approver, Compiler, Covers, Host, Outcome, Question, Request};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Answers that hold on, and questions that wait: more than a person gives in months.
const OF_EACH: usize = 1000;

/// Allows what is measured, by a rule each, as a user would. The calls of a bench are the same again and again.
pub(crate) const PLAIN: &str = r#"
[approvals]
repeats = 1000000

[plugin.files]
directory.workspace = { path = "workspace", access = "read-only" }

[[rule]]
tool = "json.*"
decision = "allow"

[[rule]]
tool = "json.echo"
when = { text = "denied*" }
decision = "deny"

[[rule]]
tool = "files.*"
permission = "read"
decision = "allow"
"#;

/// The same of the JSON plugin alone.
pub(crate) const JSON: &str = r#"
[approvals]
repeats = 1000000

[[rule]]
tool = "json.*"
decision = "allow"

[[rule]]
tool = "json.echo"
when = { text = "denied*" }
decision = "deny"
"#;

/// Slow calls and short ones. A slow one ends at its limit.
pub(crate) const FLOODED: &str = r#"
[approvals]
repeats = 1000000

[plugin.clerk]
directory.desk = { path = "desk", access = "read-write" }
limits = { time = "50 ms" }

[[rule]]
tool = "json.*"
decision = "allow"

[[rule]]
tool = "clerk.wait"
decision = "allow"
"#;

/// The same with a directory that is narrowed to the path of each call.
pub(crate) fn narrowed() -> String {
    PLAIN.replacen("access = \"read-only\" }", "access = \"read-only\", narrow = \"/path\" }", 1)
}

/// The same with some fifty rules of a person's own: globs, arguments, principals, sessions.
pub(crate) fn full() -> String {
    let mut policy = PLAIN.to_owned();
    for at in 0..12 {
        let rules = [
            ("json.*", format!("when = {{ text = \"**/forbidden-{at}/**\" }}"), "deny"),
            ("json.s*", format!("principal = \"team-{at}/**\""), "ask"),
            ("*.*", format!("session = \"night-{at}-*\"\norigin = \"automation\""), "deny"),
            ("files.*", format!("permission = \"read\"\nwhen = {{ path = \"src/{at}/**\" }}"), "ask"),
        ];
        for (tool, of, decision) in rules {
            // Text to a string: it cannot fail.
            let _ = write!(policy, "\n[[rule]]\ntool = \"{tool}\"\n{of}\ndecision = \"{decision}\"\n");
        }
    }
    policy
}

/// A project's own, which nobody has trusted: it narrows.
pub(crate) const PROJECT: &str = r#"
[[rule]]
tool = "json.echo"
when = { text = "project secret*" }
decision = "deny"

[[rule]]
tool = "files.*"
when = { path = "private/**" }
decision = "deny"
"#;

/// Fills the ledger of a state directory with remembered answers and with questions that wait.
pub(crate) async fn fill_ledger(plugins: &Path, state: &Path, base: &Path) -> Result<()> {
    let asking = PLAIN.replacen("decision = \"allow\"", "decision = \"ask\"", 1);
    let builder = || Host::builder(plugins, state, Compiler::InProcess).policy_text(&asking, base);
    let remembered = builder().approver(Arc::new(Remembers)).open().await?;
    ask(&remembered, "remembered", Outcome::Completed).await?;
    drop(remembered);
    let waiting = builder().unattended(Unattended::Pending).open().await?;
    ask(&waiting, "waiting", Outcome::Pending).await
}

async fn ask(host: &Host, word: &str, outcome: Outcome) -> Result<()> {
    for at in 0..OF_EACH {
        let arguments = serde_json::json!({ "text": format!("{word} {at}") }).to_string();
        let reply = host.call(Request::new("json.echo", arguments).session(word)).await;
        ensure!(reply.outcome() == outcome, "{}: {}", reply.code, reply.message);
    }
    Ok(())
}

/// A person who wants to be asked nothing twice.
struct Remembers;

impl Approver for Remembers {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        Box::pin(std::future::ready(Answer::Always(Covers::Exact)))
    }
}
