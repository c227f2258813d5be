//! The policies whose decision costs are compared, and a ledger like that of a busy user.

use anyhow::{Result, ensure};
use portcullis::approvals::Answering;
use portcullis::policy::Unattended;
use portcullis::{Answer, Approver, Compiler, Covers, Host, Outcome, Question, Request};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Remembered approvals and open approval requests: more than a person accumulates in months.
const OF_EACH: usize = 1000;

/// Allows each measured tool with its own rule, as a user would. `repeats` is raised because a bench repeats the same
/// call.
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

/// Binds a program that does nothing, and a shell. The runs of one bench are more than those of an hour.
pub(crate) const PROGRAMS: &str = r#"
[approvals]
repeats = 1000000

[plugin.shell]
process.sh = { program = "/bin/bash", directories = ["workspace"] }
process.make = { program = "/bin/true", directories = ["workspace"] }
directory.workspace = { path = "workspace", access = "read-write" }

[[rule]]
tool = "*.*"
decision = "allow"
"#;

/// Allows the tools of an MCP server.
pub(crate) const OF_A_SERVER: &str = r#"
[approvals]
repeats = 1000000

[[rule]]
tool = "other.*"
decision = "allow"
"#;

/// Lets a plugin call the JSON plugin.
pub(crate) const COMPOSING: &str = r#"
[approvals]
repeats = 1000000

[plugin.relay]
tools.tools = { tools = ["json.*"], calls = 100 }

[[rule]]
tool = "*.*"
decision = "allow"
"#;

/// The same for the JSON plugin alone.
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

/// Allows slow and short calls. A slow call ends at its time limit.
pub(crate) const FLOODED: &str = r#"
[approvals]
repeats = 1000000

[plugin.clerk]
directory.desk = { path = "desk", access = "read-write" }
limits = { time = "50 ms" }

[plugin.keeper]
limits = { time = "500 ms" }

[[rule]]
tool = "json.*"
decision = "allow"

[[rule]]
tool = "clerk.wait"
decision = "allow"

[[rule]]
tool = "keeper.look"
decision = "allow"
"#;

/// Lets calls wait for minutes.
pub(crate) const PATIENT: &str = r#"
[approvals]
repeats = 1000000

[plugin.conformance]
limits = { time = "600 s" }

[[rule]]
tool = "*.*"
decision = "allow"
"#;

/// [`PLAIN`] with a directory that is narrowed to the path of each call.
pub(crate) fn narrowed() -> String {
    PLAIN.replacen("access = \"read-only\" }", "access = \"read-only\", narrow = \"/path\" }", 1)
}

/// [`PLAIN`] with about fifty more user rules: globs, arguments, principals, sessions.
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
            // Writing to a `String` cannot fail.
            let _ = write!(policy, "\n[[rule]]\ntool = \"{tool}\"\n{of}\ndecision = \"{decision}\"\n");
        }
    }
    policy
}

/// An untrusted project policy. It can only narrow.
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

/// Fills the ledger of a state directory with remembered approvals and open approval requests.
pub(crate) async fn fill_ledger(plugins: &Path, state: &Path, base: &Path) -> Result<()> {
    let asking = PLAIN.replacen("decision = \"allow\"", "decision = \"ask\"", 1);
    let builder = || Host::builder(plugins, state).compiler(Compiler::InProcess).policy_text(&asking, base);
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

/// An approver who remembers every approval.
struct Remembers;

impl Approver for Remembers {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        Box::pin(std::future::ready(Answer::Always(Covers::Exact)))
    }
}
