//! One run: creates a fresh store with all limits set, calls one export, and drops everything. A call of a session can
//! continue in the store of the last one instead.

use crate::Cancellation;
use crate::clock::{Expired, RunClock};
use crate::code::Code;
use crate::context::{CallContext, OutputFull};
use crate::effects::Effects;
use crate::engine::Engine;
use crate::export::{Describe, Execute, Export, Generate, Prepare, PreviewChanges, Review, ToolCall};
use crate::handles::Handles;
use crate::http::Traffic;
use crate::idle_instance::{IdleInstance, at_rest};
use crate::log::Log;
use crate::output::OutputContext;
use crate::state::{RunParts, StoreState};
use crate::stop::{LimitKind, Stop};
use portcullis_definitions::manifest::{Answer, Generated, Manifest, Preparation, Preview, ToolCaller, Verdict};
use portcullis_policy::{InstanceLifetime, Limits};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use wasmtime::{Store, UpdateDeadline};

/// The resources that a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall-clock time, including waiting.
    pub wall: Duration,
    /// Time on a thread, without waiting: the guest's computation and the host's work for it. It includes time in which
    /// the thread was preempted. A thread clock would be exact, but costs two system calls per call.
    pub cpu: Duration,
    /// Peak linear memory, in bytes.
    pub memory_bytes: u64,
}

/// The result of a run, with its usage and side effects.
#[derive(Debug)]
pub struct Ran<T> {
    /// The answer, or why there is none.
    pub result: Result<T, Stop>,
    /// The resources that the run used.
    pub usage: Usage,
    /// The guest's log output.
    pub log: Log,
    /// The network traffic.
    pub traffic: Traffic,
    /// The changes to directories.
    pub effects: Effects,
    /// Bytes of the answer that went to [`CallHost::write_output`](crate::CallHost::write_output). They are the
    /// beginning of the answer. If the answer is text, they are all of it, and the text in `result` is empty.
    pub streamed: u64,
    /// When the run began.
    pub began: Instant,
    /// The time until the guest's own code began, of the execution of a call. `None` if it did not begin.
    pub instantiation: Option<Duration>,
}

/// What a run needs besides its export.
pub struct RunSetup<'a> {
    /// The plugin's code.
    pub code: &'a Code,
    /// The limits of the run.
    pub limits: &'a Limits,
    /// The handles that the guest can open. Those of a review, a preview or a generation must be
    /// read-only.
    pub handles: Handles,
    /// The guest's view of its call.
    pub context: CallContext,
    /// Ends the run early.
    pub cancellation: Cancellation,
}

/// The place of a store between two calls of a session.
struct SessionStore(Option<Store<StoreState>>);

impl Engine {
    /// Returns a plugin's description, or `None` if it is not stable. An honest plugin always returns the same
    /// description, so the host asks twice in each of two instances.
    pub async fn describe(&self, code: &Code, limits: &Limits, context: &CallContext) -> Ran<Option<Manifest>> {
        let run = || {
            let (context, cancellation) = (context.clone(), Cancellation::new());
            self.run(Describe, RunSetup { code, limits, handles: Handles::none(), context, cancellation })
        };
        let first = run().await;
        if first.result.is_err() {
            return first.map(|(manifest, _)| Some(manifest));
        }
        let both = of_both(first, run().await);
        both.map(|same| same.and_then(|(one, again)| (one == again).then_some(one)))
    }

    /// Runs a tool in a fresh sandbox. Dropping the future ends the run at once.
    pub async fn execute(&self, call: ToolCall<'_>, setup: RunSetup<'_>) -> Ran<Answer> {
        self.run(Execute(call, &mut None), setup).await
    }

    /// Runs a tool in the instance that an earlier call of the session left, or in a new one. Returns the instance if
    /// another call may use it. Dropping the future ends the run at once, and the instance with it.
    ///
    /// The idle instance must be one of the same code, session and principal, under the same policy. One that was made
    /// with other limits is dropped.
    pub async fn execute_in_session(
        &self,
        call: ToolCall<'_>,
        setup: RunSetup<'_>,
        idle: Option<IdleInstance>,
    ) -> (Ran<Answer>, Option<IdleInstance>) {
        let idle = idle.filter(|idle| idle.fits(setup.limits));
        let (limits, calls) = (setup.limits, idle.as_ref().map_or(0, IdleInstance::calls));
        let (store, mut instance) = idle.map(|idle| (idle.store, idle.instance)).unzip();
        let mut kept = SessionStore(store);
        let ran = self.run_in(Execute(call, &mut instance), setup, Some(&mut kept)).await;
        let idle = kept.0.zip(instance).map(|(store, instance)| IdleInstance::of(store, instance, limits, calls));
        (ran, idle)
    }

    /// Lets a plugin review a call. The verdict is `Clear` if the plugin exports no reviewer.
    pub async fn review(&self, call: ToolCall<'_>, setup: RunSetup<'_>) -> Ran<Verdict> {
        self.run(Review(call), setup).await
    }

    /// Lets a plugin compute what a call would change. The result is empty if the plugin exports no previewer.
    pub async fn preview(&self, call: ToolCall<'_>, setup: RunSetup<'_>) -> Ran<Preview> {
        self.run(PreviewChanges(call), setup).await
    }

    /// Lets a plugin make tools. Returns `None` if two instances return different results. The result is empty if the
    /// plugin exports no generator.
    pub async fn generate(
        &self,
        code: &Code,
        limits: &Limits,
        handles: &Handles,
        context: &CallContext,
    ) -> Ran<Option<Generated>> {
        let run = || {
            let (handles, context, cancellation) = (handles.clone(), context.clone(), Cancellation::new());
            self.run(Generate, RunSetup { code, limits, handles, context, cancellation })
        };
        let first = run().await;
        if !matches!(first.result, Ok(Ok(_))) {
            // An error refuses the plugin, so it need not be stable.
            return first.map(Some);
        }
        of_both(first, run().await)
    }

    /// Lets a plugin choose the tools that a caller is not offered whole. There are none if it exports no preparer.
    pub async fn prepare(&self, caller: &ToolCaller, setup: RunSetup<'_>) -> Ran<Vec<Preparation>> {
        self.run(Prepare(caller), setup).await
    }

    /// Calls one export in a fresh store.
    fn run<E: Export>(&self, export: E, setup: RunSetup<'_>) -> impl Future<Output = Ran<E::Returned>> {
        self.run_in(export, setup, None)
    }

    /// Calls one export in the store of a session, or in a fresh store. Leaves the store in the session's place only if
    /// the export returned and another call may use the store.
    async fn run_in<E: Export>(
        &self,
        export: E,
        setup: RunSetup<'_>,
        mut session: Option<&mut SessionStore>,
    ) -> Ran<E::Returned> {
        let RunSetup { code, limits, handles, context, cancellation } = setup;
        let began = Instant::now();
        let _ticking = self.ticking();
        let clock = RunClock::start(limits.time, cancellation);
        let output = export.output(limits, &context.host);
        let lifetime = session.as_ref().map_or(InstanceLifetime::Call, |_| InstanceLifetime::Session);
        let parts = RunParts { limits, clock: clock.clone(), handles, call: context, output, lifetime };
        let mut store = match session.as_mut().and_then(|session| session.0.take()) {
            Some(mut store) => {
                store.data_mut().begin(parts);
                // While the instance was idle, the epoch may have passed the deadline of the last run.
                store.set_epoch_deadline(1);
                store
            }
            None => self.store(StoreState::new(parts), limits),
        };
        let cpu = AtomicU64::new(0);
        let ended = {
            let performed = pin!(perform(&mut store, code, export));
            tokio::select! {
                // An answer that is ready counts, even if the time is over by now.
                biased;
                ended = metered(performed, &cpu) => ended,
                expired = clock.expired() => Err(match expired {
                    Expired::Time => Stop::Limit(LimitKind::Time),
                    Expired::Cancelled => Stop::Cancelled,
                }),
            }
        };
        let meter = &store.data().meter;
        let refused = meter.refused();
        let memory_bytes = meter.memory_bytes();
        let instantiation = store.data().instantiated.map(|at| at.saturating_duration_since(began));
        let result = ended.and_then(|returned| returned.map_err(|error| Stop::from_error(&error, refused)));
        let (result, streamed) = complete::<E>(result, &mut store.data_mut().output);
        let network = store.data_mut().http.take_call();
        let effects = store.data_mut().filesystem.take_effects();
        let sink = store.data().sink.clone();
        match session.filter(|_| result.is_ok()) {
            // Before the answer is processed, as the footprint assumes: only the guest's memory is left meanwhile.
            Some(session) => session.0 = at_rest(store, limits),
            // The same, without the guest's memory.
            None => drop(store),
        }
        network.end();
        let cpu = Duration::from_nanos(cpu.into_inner());
        let usage = Usage { wall: began.elapsed(), cpu, memory_bytes };
        let result = result.map(|returned| E::redact(returned, &network));
        let log = network.redact_log(sink.take());
        // The traffic counts the secrets that were removed from the result and the log, so it comes last.
        Ran { result, usage, log, traffic: network.traffic(), effects, streamed, began, instantiation }
    }

    /// Creates a store with all limits set.
    fn store(&self, state: StoreState, limits: &Limits) -> Store<StoreState> {
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(limits.transfer_bytes);
        store.set_max_component_handles(limits.handles);
        store.set_epoch_deadline(1);
        // Yields at each tick, so that a guest that computes does not keep an async worker for itself.
        store.epoch_deadline_callback(|context| {
            context.data().clock.check()?;
            Ok(UpdateDeadline::Yield(1))
        });
        store
    }
}

/// Returns what two runs return, or `None` if that differs. If only the second run fails, its reason counts, such as
/// its time limit on a busy machine.
fn of_both<T: PartialEq>(first: Ran<T>, second: Ran<T>) -> Ran<Option<T>> {
    match second.result {
        Ok(other) => first.map(|one| (one == other).then_some(one)),
        Err(_) => second.map(Some),
    }
}

impl<T> Ran<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Ran<U> {
        Ran {
            result: self.result.map(change),
            usage: self.usage,
            log: self.log,
            traffic: self.traffic,
            effects: self.effects,
            streamed: self.streamed,
            began: self.began,
            instantiation: self.instantiation,
        }
    }
}

/// Completes the answer that the guest wrote while it ran. Returns the result, and how many bytes were passed on.
fn complete<E: Export>(
    result: Result<E::Returned, Stop>,
    output: &mut OutputContext,
) -> (Result<E::Returned, Stop>, u64) {
    let full = |OutputFull| Stop::Limit(LimitKind::KeptOutput);
    let result = result.and_then(|returned| E::complete(returned, output).map_err(full));
    let (streamed, finished) = output.finish();
    (result.and_then(|returned| finished.map(|()| returned).map_err(full)), streamed)
}

async fn perform<E: Export>(store: &mut Store<StoreState>, code: &Code, export: E) -> wasmtime::Result<E::Returned> {
    if let Some(secrets) = store.data().handles.secrets() {
        // The answer and the log are searched for these, even if the call sends no request. A program that prints a
        // secret runs only when the call uses a client.
        secrets.open_at_hand().await;
    }
    export.call(code.plugin(), store).await
}

/// Measures the time of a future on its thread, and converts a panic to a `Stop`. A guest must not be able to crash the
/// host.
async fn metered<F: Future>(mut future: Pin<&mut F>, cpu_nanoseconds: &AtomicU64) -> Result<F::Output, Stop> {
    poll_fn(|context| {
        let began = Instant::now();
        // Safe to unwind: after a panic the store is dropped, and locks of shared state are recovered
        // (`portcullis_policy::recovery`).
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        let spent = began.elapsed().as_nanos();
        cpu_nanoseconds.fetch_add(u64::try_from(spent).unwrap_or(u64::MAX), Ordering::Relaxed);
        match polled {
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(Err(Stop::HostPanic)),
        }
    })
    .await
}
