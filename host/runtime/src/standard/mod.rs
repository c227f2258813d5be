//! The host's own tools: reading and searching what was kept of an answer, and saying that the work is done. They stand
//! in the catalog beside those of plugins, and a call of one goes through the same steps; what runs is a function of
//! this host in place of a sandbox. They reach nothing but the kept outputs of the caller's own session, and
//! `tools.explain` says of a call of the same caller what the call would be told.

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

/// What the host says of its own tools, in the layer that is below every other: a call of one is allowed where no other
/// rule speaks of it, and a deny or an ask of any layer goes over this. It stands at the end of what is built in.
pub(crate) const POLICY: &str = include_str!("policy.toml");

/// A tool of the host's own.
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
    /// The tool of a name. No plugin has such a name: a file of it is refused.
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

/// Whether a name is that of the tool that explains calls. It is none of [`Standard`], because it takes the steps of
/// another call.
pub(crate) fn explains(name: &ToolName) -> bool {
    EXPLAIN_TOOL.split_once('.') == Some((name.plugin.as_str(), name.tool.as_str()))
}

/// A call of one, decided on.
pub(crate) struct Call {
    pub(crate) outputs: Outputs,
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) limits: Limits,
    pub(crate) cancellation: Cancellation,
}

/// Why there is no answer.
enum Trouble {
    /// The tool says so.
    Failure(Failure),
    /// It was told to stop.
    Stopped,
}

/// Runs one where it may wait for the disk. It ends at its time, and soon after a cancellation; its thread keeps the
/// run slot of the call until it has noticed.
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

/// Tells a thread that nobody waits any more.
#[derive(Clone, Default)]
struct Stopping(Arc<AtomicBool>);

impl Stopping {
    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

/// Whoever waits. When this is gone, nobody does.
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

    /// Bytes that an answer may have, so that it is passed on whole: what is said about it has room besides.
    fn page_bytes(&self) -> usize {
        self.limits.output_bytes.saturating_sub(NOTICE_BYTES_MAX).max(NOTICE_BYTES_MAX)
    }
}

/// The longest of what is said under a page, in bytes.
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
    fn what_the_host_says_of_its_own_tools_is_a_policy() {
        let policy = portcullis_policy::Policy::parse(super::POLICY).map_err(|error| error.to_string());
        assert_eq!(policy.map(drop), Ok(()));
    }
}
