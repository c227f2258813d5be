//! Timed calls.

use portcullis::{Code, Host, Request};
use std::time::{Duration, Instant};

/// Maximum characters of a reason that a tool wrote.
const REASON_CHARACTERS_MAX: usize = 300;

/// One completed call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSample {
    /// From the request to the reply.
    pub(super) time: Duration,
    /// The part of it in the sandbox: the instance, and the plugin's own work and waiting.
    pub(super) sandbox: Duration,
    /// The peak of the guest's linear memory, in bytes.
    pub(super) memory_bytes: u64,
}

/// The calls of one measurement.
#[derive(Debug, Default)]
pub(super) struct CallSamples {
    pub(super) completed: Vec<CallSample>,
    pub(super) failed: usize,
    /// Why the first one failed.
    pub(super) failure: Option<String>,
}

impl CallSamples {
    /// Adds a call.
    pub(super) fn add(&mut self, call: Result<CallSample, String>) {
        match call {
            Ok(sample) => self.completed.push(sample),
            Err(why) => {
                self.failed += 1;
                self.failure.get_or_insert(why);
            }
        }
    }

    /// Adds all calls of another measurement.
    pub(super) fn extend(&mut self, other: Self) {
        self.completed.extend(other.completed);
        self.failed += other.failed;
        self.failure = self.failure.take().or(other.failure);
    }

    /// Returns how many calls failed and why, or `None` if none failed.
    pub(super) fn failures(&self, kind: &str) -> Option<String> {
        let all = self.completed.len() + self.failed;
        self.failure
            .as_ref()
            .map(|why| format!("{kind}: {} of {all} calls failed, the first one with {why}", self.failed))
    }
}

/// Makes a call and measures it.
///
/// # Errors
/// The call did not complete. The text is its code and its message, which the plugin may have written.
pub(super) async fn timed(host: &Host, request: Request) -> Result<CallSample, String> {
    let began = Instant::now();
    let reply = host.call(request).await;
    let time = began.elapsed();
    if reply.code != Code::Completed {
        let message: String = reply.message.chars().take(REASON_CHARACTERS_MAX).collect();
        return Err(format!("{}: {message}", reply.code));
    }
    let usage = reply.usage.run;
    Ok(CallSample { time, sandbox: usage.wall, memory_bytes: usage.memory_bytes })
}
