//! The caller of a run that no caller asked for, such as a preview: it takes what the tool says, keeps nothing, and
//! answers no question.

use crate::text::new_id;
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
        // What a tool hears whose call nobody looks at.
        Box::pin(std::future::ready(Err("not approved".to_owned())))
    }

    fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        let taken = |left: usize| left.checked_sub(bytes.len());
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).map(drop).map_err(|_| OutputFull)
    }

    fn traffic(&self, _: Traffic) {}

    fn effects(&self, _: Effects) {}
}

/// The host's side of such a run, whose answer may have so many bytes.
pub(crate) fn host(output_bytes_max: usize) -> Arc<dyn CallHost> {
    Arc::new(Alone { left: AtomicUsize::new(output_bytes_max) })
}

/// A call of nobody's, whose answer may have so many bytes. It looks to its tool like any other.
pub(crate) fn context(output_bytes_max: usize) -> CallContext {
    // Without randomness both are empty: nothing is told apart by them here.
    let id = || Arc::from(new_id().unwrap_or_default());
    CallContext {
        id: id(),
        session: id(),
        message: None,
        agent: None,
        host: host(output_bytes_max),
        approval_time: APPROVAL_TIME,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_can_tell_it_by_its_id_or_its_session() {
        let contexts = [context(0), context(0)];
        let names = contexts.iter().flat_map(|context| [&context.id, &context.session]);
        let names: std::collections::BTreeSet<_> = names.collect();
        assert_eq!(names.len(), 4);
        assert!(names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }
}
