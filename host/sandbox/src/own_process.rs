//! What the process of the host gives up while it runs, and how it still starts its own workers.

use crate::program::{broker, start_broker};
use portcullis_confine::{ConfineError, OwnRights, restrict_own_process};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process has given up the start of programs.
static STARTS_NO_PROGRAMS: AtomicBool = AtomicBool::new(false);

/// Takes every right from this process that is not in `rights`, for good. If `needs_broker`, the process that starts
/// programs and compile workers is started first. Blocks for some milliseconds.
///
/// # Errors
/// The kernel cannot confine a running process, or the broker cannot be started.
pub fn confine_process(rights: &OwnRights, needs_broker: bool) -> Result<(), ConfineError> {
    if needs_broker {
        start_broker()?;
    }
    restrict_own_process(rights).map_err(ConfineError::OwnProcess)?;
    STARTS_NO_PROGRAMS.store(!rights.starts_programs(), Ordering::Release);
    Ok(())
}

/// Starts the compile worker by the broker, if this process can no longer start programs.
pub(crate) fn start_worker() -> Option<io::Result<portcullis_confine::RunningWorker>> {
    if !STARTS_NO_PROGRAMS.load(Ordering::Acquire) {
        return None;
    }
    Some(broker().and_then(|broker| broker.start_worker()).map_err(io::Error::other))
}
