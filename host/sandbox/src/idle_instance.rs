//! An instance of a plugin between two calls of a session.
//!
//! Its memory continues, and it holds nothing that a call was given. The host keeps an instance only if the guest
//! returned an answer, released every handle, and came near no limit.

use crate::clock::RunClock;
use crate::context::{Ask, CallContext, CallHost, OutputFull, Progress};
use crate::effects::Effects;
use crate::handles::Handles;
use crate::http::Traffic;
use crate::output::OutputContext;
use crate::state::{RunParts, StoreState};
use portcullis_policy::{InstanceLifetime, Limits};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::Instance;

/// An instance of a plugin that waits for the next call of its session. It holds no handle.
pub struct IdleInstance {
    pub(crate) store: Store<StoreState>,
    pub(crate) instance: Instance,
    limits: Limits,
    calls: u64,
}

/// The host of a guest that does not run.
struct NoCall;

/// Takes everything from the store of a run that has returned, so that only the memory of its guest is left. Returns
/// `None` if the store must not be used again.
pub(crate) fn at_rest(mut store: Store<StoreState>, limits: &Limits) -> Option<Store<StoreState>> {
    let none: Arc<str> = Arc::from("");
    let call = CallContext {
        id: Arc::clone(&none),
        session: none,
        message: None,
        agent: None,
        host: Arc::new(NoCall),
        approval_time: Duration::ZERO,
    };
    let idle = RunParts {
        limits,
        // Already over, because nothing may run between two calls.
        clock: RunClock::start(Duration::ZERO, crate::Cancellation::new()),
        handles: Handles::none(),
        call,
        output: OutputContext::closed(),
        lifetime: InstanceLifetime::Session,
    };
    let is_at_rest = store.data_mut().rest(idle);
    is_at_rest.then_some(store)
}

impl IdleInstance {
    /// Makes one of a store [at rest](at_rest).
    pub(crate) fn of(store: Store<StoreState>, instance: Instance, limits: &Limits, earlier: u64) -> Self {
        Self { store, instance, limits: *limits, calls: earlier.saturating_add(1) }
    }

    /// Returns how many calls it has run.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Returns whether it can run a call with these limits: those that it was made with.
    pub(crate) fn fits(&self, limits: &Limits) -> bool {
        self.limits == *limits
    }
}

impl std::fmt::Debug for IdleInstance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("IdleInstance").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl CallHost for NoCall {
    fn report(&self, _: Progress) {}

    fn ask(&self, _: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        Box::pin(ready(Err("no call runs".to_owned())))
    }

    fn write_output(&self, _: &[u8]) -> Result<(), OutputFull> {
        Err(OutputFull)
    }

    fn traffic(&self, _: Traffic) {}

    fn effects(&self, _: Effects) {}
}
