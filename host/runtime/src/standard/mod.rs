//! The built-in tools, which read and search kept outputs, report the end of the work, and explain calls. They are in
//! the catalog with the tools of plugins, and their calls take the same steps. They run as functions of the host
//! instead of in a sandbox. They only reach kept outputs of the caller's own session, and `tools.explain` only tells a
//! caller what its own call would return.

mod call;
mod definitions;
mod done;
mod grep;
mod media;
mod read;

pub(crate) use call::StandardCall;
pub(crate) use definitions::plugins;
pub(crate) use media::MEDIA_BYTES_MAX;

use crate::admission::Admitted;
use call::{StopSignal, Trouble};
use portcullis_definitions::manifest::Answer;
use portcullis_policy::{Limits, ToolName};
use portcullis_sandbox::{LimitKind, Stop, Usage};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The policy for the built-in tools, at the end of the built-in layer. It allows them if no other rule matches. A
/// `deny` or `ask` of any layer takes precedence.
pub const POLICY: &str = include_str!("policy.toml");

/// Maximum length of a media type, in bytes. RFC 6838 allows 127 each for type and subtype.
pub(crate) const MEDIA_TYPE_BYTES_MAX: usize = 255;

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

    /// Returns the maximum size of an answer, in bytes. Text stays below the limit of the call. An image or a document
    /// may have more.
    pub(crate) fn answer_bytes_max(self, limits: &Limits) -> usize {
        match self {
            Self::Read => limits.output_bytes.max(MEDIA_BYTES_MAX + MEDIA_TYPE_BYTES_MAX),
            Self::Grep | Self::Done => limits.output_bytes,
        }
    }
}

/// Runs a built-in tool on a thread that may block on the disk. Returns at the time limit or at the cancellation. The
/// thread keeps the call's run slot until it notices that it has to stop.
pub(crate) async fn run(standard: Standard, call: StandardCall, admitted: Admitted) -> (Result<Answer, Stop>, Usage) {
    let began = Instant::now();
    let (time, cancellation) = (call.limits.time, call.cancellation.clone());
    let stop = StopSignal::default();
    let _waiting = WaitingReader(stop.clone());
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

/// The waiting side. Dropping it tells the thread to stop.
struct WaitingReader(StopSignal);

impl Drop for WaitingReader {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_policy_for_the_built_in_tools_is_valid() {
        let policy = portcullis_policy::Policy::parse(super::POLICY).map_err(|error| error.to_string());
        assert_eq!(policy.map(drop), Ok(()));
    }
}
