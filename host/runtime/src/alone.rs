//! Host services for a run without a caller, such as a preview. They accept what the tool reports, store nothing, and
//! deny every permission request.

use crate::text::new_id;
use portcullis_sandbox::{Ask, CallContext, CallHost, Effects, OutputFull, Progress, Traffic};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The approval time of such a run. No approver is asked.
const APPROVAL_TIME: Duration = Duration::from_millis(1);

struct Alone {
    /// The number of answer bytes that may still be written.
    left: AtomicUsize,
}

impl CallHost for Alone {
    fn report(&self, _: Progress) {}

    fn ask(&self, _: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        // The same text as for a denied request of a real call.
        Box::pin(std::future::ready(Err("not approved".to_owned())))
    }

    fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        let taken = |left: usize| left.checked_sub(bytes.len());
        // `Relaxed` is enough, because this counter protects no other memory.
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).map(drop).map_err(|_| OutputFull)
    }

    fn traffic(&self, _: Traffic) {}

    fn effects(&self, _: Effects) {}
}

/// Returns the host services of such a run. Its answer may have at most `output_bytes_max` bytes.
pub(crate) fn host(output_bytes_max: usize) -> Arc<dyn CallHost> {
    Arc::new(Alone { left: AtomicUsize::new(output_bytes_max) })
}

/// Returns the context of such a run. The tool cannot distinguish it from that of a real call.
pub(crate) fn context(output_bytes_max: usize) -> CallContext {
    // If the system provides no randomness, both ids are empty. Nothing here depends on them.
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
    fn a_tool_cannot_recognise_it_by_its_id_or_session() {
        let contexts = [context(0), context(0)];
        let names = contexts.iter().flat_map(|context| [&context.id, &context.session]);
        let names: std::collections::BTreeSet<_> = names.collect();
        assert_eq!(names.len(), 4);
        assert!(names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())));
    }
}
