//! The host's own tools: reading and searching what was kept of an answer, and saying that the work is done. They stand
//! in the catalog beside those of plugins, and a call of one goes through the same steps; what runs is a function of
//! this host in place of a sandbox. They reach nothing but the kept outputs of the caller's own session, and
//! `tools.explain` says of a call of the same caller what the call would be told.

mod call;
mod definitions;
mod done;
mod grep;
mod read;

pub(crate) use call::Call;
pub(crate) use definitions::plugins;

use crate::admission::Admitted;
use call::{Stopping, Trouble};
use portcullis_policy::ToolName;
use portcullis_sandbox::{Answer, LimitKind, Stop, Usage};
use std::sync::atomic::Ordering;
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

/// Whoever waits. When this is gone, nobody does.
struct Waiting(Stopping);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_the_host_says_of_its_own_tools_is_a_policy() {
        let policy = portcullis_policy::Policy::parse(super::POLICY).map_err(|error| error.to_string());
        assert_eq!(policy.map(drop), Ok(()));
    }
}
