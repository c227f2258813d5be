//! The one process of this host that starts programs. It begins with the first program.

use crate::own_program;
use portcullis_confine::{Broker, BrokerProgram, ConfineError, ProgramStart, StartingProgram, TierReport};
use portcullis_policy::recovery::RecoverMutex;
use std::io;
use std::sync::{Arc, Mutex};

static BROKER: Mutex<Option<Arc<Broker>>> = Mutex::new(None);

/// Returns how this machine confines programs, and why not better. Starts the broker if it does not run, so it blocks
/// for some milliseconds.
///
/// # Errors
/// The broker cannot be started.
pub fn program_tier() -> Result<TierReport, ConfineError> {
    broker().map(|broker| broker.tier().clone())
}

/// Begins to start a program. Blocks.
pub(super) fn begin(start: ProgramStart<'_>) -> Result<StartingProgram, ConfineError> {
    let broker = broker()?;
    let begun = broker.begin(start);
    // A broker that was killed is started again by the next program.
    if let Err(ConfineError::Broker(_)) = &begun {
        let mut kept = BROKER.lock_recovered();
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, &broker)) {
            *kept = None;
        }
    }
    begun
}

/// Starts the broker if it does not run. A process that gives up the start of programs calls this first.
pub(crate) fn start_broker() -> Result<(), ConfineError> {
    broker().map(drop)
}

/// Returns the broker, started if necessary.
pub(crate) fn broker() -> Result<Arc<Broker>, ConfineError> {
    let mut kept = BROKER.lock_recovered();
    if let Some(broker) = &*kept {
        return Ok(Arc::clone(broker));
    }
    // The lock is held while the broker starts, so that two programs do not start two brokers.
    let own = own_program::path().map_err(|error| ConfineError::Broker(io::Error::other(error)))?;
    let broker = Arc::new(Broker::start(&BrokerProgram::new(own.to_owned()))?);
    *kept = Some(Arc::clone(&broker));
    Ok(broker)
}

/// Describes why a program did not start, with its causes.
pub(super) fn describe(error: &ConfineError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
