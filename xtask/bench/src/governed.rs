//! The same calls through the whole host, their record included.

use anyhow::{Result, ensure};
use portcullis::{Compiler, Host, Outcome, Request};
use std::path::Path;
use tokio::runtime::Runtime;

/// Allows what is measured, by a rule each, as a user would.
const POLICY: &str = r#"
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

/// An open host.
pub(crate) struct Governed {
    runtime: Runtime,
    host: Host,
}

impl Governed {
    pub(crate) fn open(plugins: &Path, scratch: &Path, workspace: &Path) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let base = workspace.parent().unwrap_or(workspace);
        let opening = Host::builder(plugins, scratch.join("state"), Compiler::InProcess).policy_text(POLICY, base)?;
        let host = runtime.block_on(opening.open())?;
        if let [refused, ..] = host.catalog().refused() {
            anyhow::bail!("{}: {}", refused.file, refused.error);
        }
        Ok(Self { runtime, host })
    }

    /// Runs `work` within the runtime of the host.
    pub(crate) fn within<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// One call.
    pub(crate) async fn call(&self, tool: &str, arguments: &str, outcome: Outcome) -> Result<()> {
        let reply = self.host.call(Request::new(tool, arguments)).await;
        ensure!(reply.outcome() == outcome, "{}: {}", reply.code, reply.message);
        Ok(())
    }
}
