//! The built-in tools, which read and search kept outputs, report the end of the work, and explain calls. They are in
//! the catalog with the tools of plugins, and their calls take the same steps. They run as functions of the host
//! instead of in a sandbox. They only reach kept outputs of the caller's own session, and `tools.explain` only tells a
//! caller what its own call would return.

mod definitions;
mod done;
mod grep;
mod read;

pub use definitions::is_reserved;
pub(crate) use definitions::plugins;

use crate::admission::Admitted;
use crate::outputs::{OutputError, Outputs, Reader};
use portcullis_policy::{Limits, Principal, ToolName};
use portcullis_sandbox::{Answer, Cancellation, Failure, LimitKind, Output, Stop, Success, Usage};
use serde_json::{Map, Value};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The policy for the built-in tools, at the end of the built-in layer. It allows them if no other rule matches. A
/// `deny` or `ask` of any layer takes precedence.
pub(crate) const POLICY: &str = include_str!("policy.toml");

/// A built-in tool that reads outputs or reports the end of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    /// `output.read`
    Read,
    /// `output.grep`
    Grep,
    /// `done.done`
    Done,
}

impl Standard {
    /// Returns the built-in tool with this name. No plugin can have such a name, because its file is refused.
    pub(crate) fn named(name: &ToolName) -> Option<Self> {
        match (name.plugin.as_str(), name.tool.as_str()) {
            ("output", "read") => Some(Self::Read),
            ("output", "grep") => Some(Self::Grep),
            ("done", "done") => Some(Self::Done),
            _ => None,
        }
    }
}

/// The full name of the tool that explains calls. Its argument `tool` names another tool as the model knows it. An
/// embedder that gives models other names, or only some of the tools, has to translate or refuse that name.
pub const EXPLAIN_TOOL: &str = "tools.explain";

/// Returns whether a name is that of the tool that explains calls. It is not a [`Standard`] tool, because it takes the
/// steps of another call.
pub(crate) fn explains(name: &ToolName) -> bool {
    EXPLAIN_TOOL.split_once('.') == Some((name.plugin.as_str(), name.tool.as_str()))
}

/// An approved call of a built-in tool.
pub(crate) struct Call {
    pub(crate) outputs: Outputs,
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) limits: Limits,
    pub(crate) cancellation: Cancellation,
}

/// Why a built-in tool has no answer.
enum Trouble {
    /// The tool failed.
    Failure(Failure),
    /// The tool was told to stop.
    Stopped,
}

/// Runs a built-in tool on a thread that may block on the disk. Returns at the time limit or at the cancellation. The
/// thread keeps the call's run slot until it notices that it has to stop.
pub(crate) async fn run(standard: Standard, call: Call, admitted: Admitted) -> (Result<Answer, Stop>, Usage) {
    let began = Instant::now();
    let (time, cancellation) = (call.limits.time, call.cancellation.clone());
    let stop = Stopping::default();
    let _waiting = Waiting(stop.clone());
    let work = tokio::task::spawn_blocking(move || {
        let _admitted = admitted;
        match standard {
            Standard::Read => read::read(&call, &stop),
            Standard::Grep => grep::grep(&call, &stop),
            Standard::Done => done::done(&call),
        }
    });
    let result = tokio::select! {
        biased;
        worked = work => match worked {
            Ok(Ok(success)) => Ok(Ok(success)),
            Ok(Err(Trouble::Failure(failure))) => Ok(Err(failure)),
            Ok(Err(Trouble::Stopped)) => Err(Stop::Cancelled),
            Err(_) => Err(Stop::HostPanic),
        },
        () = cancellation.cancelled() => Err(Stop::Cancelled),
        () = tokio::time::sleep(time) => Err(Stop::Limit(LimitKind::Time)),
    };
    let wall = began.elapsed();
    (result, Usage { wall, cpu: wall, memory_bytes: 0 })
}

/// Tells the thread to stop, because no one waits for its result.
#[derive(Clone, Default)]
struct Stopping(Arc<AtomicBool>);

impl Stopping {
    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

/// The waiting side. Dropping it tells the thread to stop.
struct Waiting(Stopping);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

impl Call {
    fn reader(&self) -> Reader<'_> {
        Reader { session: &self.session, principal: &self.principal }
    }

    fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.arguments.get(name).and_then(Value::as_u64)
    }

    /// Returns the maximum size of a page, in bytes, so that the page and its notice fit into the reply.
    fn page_bytes(&self) -> usize {
        self.limits.output_bytes.saturating_sub(NOTICE_BYTES_MAX).max(NOTICE_BYTES_MAX)
    }
}

/// Maximum length of the notice under a page, in bytes.
const NOTICE_BYTES_MAX: usize = 1024;

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => Self::Stopped,
            _ => Self::Failure(unavailable("the host cannot read the output")),
        }
    }
}

impl From<OutputError> for Trouble {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Unknown(_) => Self::Failure(Failure::InvalidArguments(error.to_string())),
            OutputError::Ledger(_) | OutputError::Io(_) => {
                Self::Failure(unavailable("the host cannot read its kept outputs"))
            }
        }
    }
}

fn unavailable(message: &str) -> Failure {
    Failure::Unavailable { message: message.to_owned(), retry_after: None }
}

fn answer(text: String) -> Success {
    Success { title: None, output: Output::Text(text), metadata: None }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_policy_for_the_built_in_tools_is_valid() {
        let policy = portcullis_policy::Policy::parse(super::POLICY).map_err(|error| error.to_string());
        assert_eq!(policy.map(drop), Ok(()));
    }
}
