//! The caller of a run that nobody asked for: it takes what the tool says, keeps nothing, and answers no question.

use portcullis_sandbox::{Ask, CallContext, CallHost, Effects, OutputFull, Progress, Traffic};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a person may take: there is none.
const APPROVAL_TIME: Duration = Duration::from_millis(1);

struct Alone {
    /// How many bytes of an answer may still come.
    left: AtomicUsize,
}

impl CallHost for Alone {
    fn report(&self, _: Progress) {}

    fn ask(&self, _: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(std::future::ready(Err("nobody is there to approve it".to_owned())))
    }

    fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        let taken = |left: usize| left.checked_sub(bytes.len());
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).map(drop).map_err(|_| OutputFull)
    }

    fn traffic(&self, _: Traffic) {}

    fn effects(&self, _: Effects) {}
}

/// A call of nobody's, whose answer may have so many bytes.
pub(super) fn context(output_bytes_max: usize) -> CallContext {
    CallContext {
        id: Arc::from("check"),
        session: Arc::from("check"),
        message: None,
        agent: None,
        host: Arc::new(Alone { left: AtomicUsize::new(output_bytes_max) }),
        approval_time: APPROVAL_TIME,
    }
}
