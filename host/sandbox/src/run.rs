//! One run: creates a fresh store with all limits set, calls one export, and drops everything.

use crate::Cancellation;
use crate::clock::{Expired, RunClock};
use crate::code::Code;
use crate::context::{CallContext, OutputFull};
use crate::effects::Effects;
use crate::engine::Engine;
use crate::handles::Handles;
use crate::http::{NetworkCall, Traffic};
use crate::log::{Log, Sink};
use crate::output::OutputContext;
use crate::state::StoreState;
use crate::stop::{LimitKind, Stop};
use portcullis_definitions::manifest::{Answer, Failure, Manifest, Preview, Verdict};
use portcullis_policy::Limits;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
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
}

/// The export to call.
enum Job<'a> {
    Describe,
    Execute { tool: &'a str, arguments: &'a str },
    Review { tool: &'a str, arguments: &'a str },
    Preview { tool: &'a str, arguments: &'a str },
}

/// The result of the called export.
enum Returned {
    /// Returns two descriptions by one instance.
    Described(Box<(Manifest, Manifest)>),
    Executed(Answer),
    Reviewed(Verdict),
    Previewed(Preview),
}

impl Engine {
    /// Returns a plugin's description, or `None` if it is not stable. An honest plugin always returns the same
    /// description, so the host asks twice in each of two instances.
    pub async fn describe(&self, code: &Code, limits: &Limits, context: &CallContext) -> Ran<Option<Manifest>> {
        let run = || self.run(code, Job::Describe, limits, Handles::none(), context.clone(), Cancellation::new());
        let first = run().await;
        let second = if first.result.is_ok() { Some(run().await) } else { None };
        let again = second.and_then(|ran| ran.result.ok());
        first.map(|returned| match (returned, again) {
            (Returned::Described(one), Some(Returned::Described(other))) => {
                let stable = one.0 == one.1 && one.0 == other.0 && one.0 == other.1;
                stable.then_some(one.0)
            }
            _ => None,
        })
    }

    /// Runs a tool with these handles. Dropping the future ends the run at once.
    #[expect(clippy::too_many_arguments, reason = "each is a separate decision of the step before")]
    pub async fn execute(
        &self,
        code: &Code,
        tool: &str,
        arguments: &str,
        limits: &Limits,
        handles: Handles,
        context: CallContext,
        cancellation: Cancellation,
    ) -> Ran<Answer> {
        let job = Job::Execute { tool, arguments };
        let ran = self.run(code, job, limits, handles, context, cancellation).await;
        ran.map(|returned| match returned {
            Returned::Executed(answer) => answer,
            Returned::Described(_) | Returned::Reviewed(_) | Returned::Previewed(_) => {
                Err(Failure::Failed(String::new()))
            }
        })
    }

    /// Lets a plugin review a call. The verdict is `Clear` if the plugin exports no reviewer. `handles` must be
    /// read-only.
    pub async fn review(
        &self,
        code: &Code,
        tool: &str,
        arguments: &str,
        limits: &Limits,
        handles: Handles,
        context: CallContext,
    ) -> Ran<Verdict> {
        let job = Job::Review { tool, arguments };
        let ran = self.run(code, job, limits, handles, context, Cancellation::new()).await;
        ran.map(|returned| match returned {
            Returned::Reviewed(verdict) => verdict,
            Returned::Described(_) | Returned::Executed(_) | Returned::Previewed(_) => Verdict::Refuse(String::new()),
        })
    }

    /// Lets a plugin compute what a call would change. The result is empty if the plugin exports no previewer.
    /// `handles` must be read-only.
    #[expect(clippy::too_many_arguments, reason = "each is a separate decision of the step before")]
    pub async fn preview(
        &self,
        code: &Code,
        tool: &str,
        arguments: &str,
        limits: &Limits,
        handles: Handles,
        context: CallContext,
        cancellation: Cancellation,
    ) -> Ran<Preview> {
        let job = Job::Preview { tool, arguments };
        let ran = self.run(code, job, limits, handles, context, cancellation).await;
        ran.map(|returned| match returned {
            Returned::Previewed(preview) => preview,
            Returned::Described(_) | Returned::Executed(_) | Returned::Reviewed(_) => {
                Err(Failure::Failed(String::new()))
            }
        })
    }

    async fn run(
        &self,
        code: &Code,
        job: Job<'_>,
        limits: &Limits,
        handles: Handles,
        context: CallContext,
        cancellation: Cancellation,
    ) -> Ran<Returned> {
        let began = Instant::now();
        let _ticking = self.ticking();
        let clock = RunClock::start(limits.time, cancellation);
        let sink = Sink::new(limits.log_bytes);
        let output = match job {
            Job::Execute { .. } => OutputContext::new(limits, Arc::clone(&context.host)),
            Job::Describe | Job::Review { .. } | Job::Preview { .. } => OutputContext::closed(),
        };
        let mut store = self.store(StoreState::new(limits, clock.clone(), handles, context, &sink, output), limits);
        let cpu = AtomicU64::new(0);
        let ended = tokio::select! {
            biased;
            ended = metered(perform(&mut store, code, job), &cpu) => ended,
            expired = clock.expired() => Err(match expired {
                Expired::Time => Stop::Limit(LimitKind::Time),
                Expired::Cancelled => Stop::Cancelled,
            }),
        };
        let meter = &store.data().meter;
        let refused = meter.refused();
        let memory_bytes = meter.memory_bytes();
        let result = ended.and_then(|returned| returned.map_err(|error| Stop::from_error(&error, refused)));
        let (result, streamed) = complete(result, &mut store.data_mut().output);
        let network = store.data_mut().http.take_call();
        let effects = store.data_mut().filesystem.take_effects();
        drop(store);
        network.end();
        let cpu = Duration::from_nanos(cpu.into_inner());
        let usage = Usage { wall: began.elapsed(), cpu, memory_bytes };
        let ran = Ran { result, usage, log: sink.take(), traffic: Traffic::default(), effects, streamed };
        redacted(ran, &network)
    }

    /// Creates a store with all limits set.
    fn store(&self, state: StoreState, limits: &Limits) -> Store<StoreState> {
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(limits.transfer_bytes);
        store.set_max_component_handles(limits.handles);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| {
            context.data().clock.check()?;
            Ok(UpdateDeadline::Yield(1))
        });
        store
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
        }
    }
}

/// Completes the answer that the guest wrote while it ran, by appending the text that it returned. Returns the result,
/// and how many bytes were passed on.
fn complete(result: Result<Returned, Stop>, output: &mut OutputContext) -> (Result<Returned, Stop>, u64) {
    let full = |OutputFull| Stop::Limit(LimitKind::KeptOutput);
    let result = result.and_then(|returned| match returned {
        Returned::Executed(Ok(success)) => {
            output.append(success).map(|success| Returned::Executed(Ok(success))).map_err(full)
        }
        Returned::Executed(Err(_)) | Returned::Described(_) | Returned::Reviewed(_) | Returned::Previewed(_) => {
            Ok(returned)
        }
    });
    let (streamed, finished) = output.finish();
    (result.and_then(|returned| finished.map(|()| returned).map_err(full)), streamed)
}

/// Removes the host's secrets from the output of a run, and adds its network traffic.
fn redacted(ran: Ran<Returned>, call: &NetworkCall) -> Ran<Returned> {
    let ran = ran.map(|returned| match returned {
        Returned::Executed(answer) => Returned::Executed(call.redact_answer(answer)),
        Returned::Reviewed(verdict) => Returned::Reviewed(call.redact_verdict(verdict)),
        Returned::Previewed(preview) => Returned::Previewed(call.redact_preview(preview)),
        // A description is made without handles, before any call, so it contains no secret.
        Returned::Described(_) => returned,
    });
    Ran { log: call.redact_log(ran.log), traffic: call.traffic(), ..ran }
}

async fn perform(store: &mut Store<StoreState>, code: &Code, job: Job<'_>) -> wasmtime::Result<Returned> {
    if let Some(secrets) = store.data().handles.secrets() {
        secrets.open_at_hand().await;
    }
    let plugin = code.plugin();
    match job {
        Job::Describe => plugin.describe(store).await.map(|twice| Returned::Described(Box::new(twice))),
        Job::Execute { tool, arguments } => plugin.execute(store, tool, arguments).await.map(Returned::Executed),
        Job::Review { tool, arguments } => plugin.review(store, tool, arguments).await.map(Returned::Reviewed),
        Job::Preview { tool, arguments } => plugin.preview(store, tool, arguments).await.map(Returned::Previewed),
    }
}

/// Measures the time of a future on its thread, and converts a panic to a `Stop`. A guest must not be able to crash the
/// host.
async fn metered<F: Future>(future: F, cpu_nanoseconds: &AtomicU64) -> Result<F::Output, Stop> {
    let mut future = pin!(future);
    poll_fn(|context| {
        let began = Instant::now();
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
