//! The thread that advances an engine's epoch. It sleeps when nothing has run for a while.

use crate::engine::config::EngineError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use wasmtime::EngineWeak;

/// Interval at which the epoch advances. It is the maximum time that a guest computes between two checks of its clock.
const TICK: Duration = Duration::from_millis(10);

/// Ticks without a call after which the thread goes to sleep.
const IDLE_TICKS_MAX: u32 = 100;

/// The thread that advances the epoch while something runs.
pub(crate) struct Ticker {
    running: AtomicUsize,
    asleep: AtomicBool,
    thread: std::thread::Thread,
}

impl Ticker {
    pub(crate) fn start(engine: &wasmtime::Engine) -> Result<Arc<Self>, EngineError> {
        let weak = engine.weak();
        let (sender, receiver) = std::sync::mpsc::channel::<std::sync::Weak<Self>>();
        let thread = std::thread::Builder::new()
            .name("portcullis-epoch".to_owned())
            .spawn(move || {
                if let Ok(ticker) = receiver.recv() {
                    tick(&weak, &ticker);
                }
            })
            .map_err(|error| EngineError::new(format!("cannot start the epoch thread: {error}")))?;
        let ticker = Arc::new(Self {
            running: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
            thread: thread.thread().clone(),
        });
        // The thread waits for this. Without the thread, the epoch would not advance and no time limit would be
        // enforced.
        sender.send(Arc::downgrade(&ticker)).map_err(|_| EngineError::new("the epoch thread has ended".to_owned()))?;
        Ok(ticker)
    }
}

fn tick(engine: &EngineWeak, ticker: &std::sync::Weak<Ticker>) {
    let mut idle = 0;
    while let (Some(engine), Some(ticker)) = (engine.upgrade(), ticker.upgrade()) {
        engine.increment_epoch();
        idle = if ticker.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        let sleeps = idle >= IDLE_TICKS_MAX;
        if sleeps {
            ticker.asleep.store(true, Ordering::SeqCst);
        }
        // A call that began in between either saw `asleep` and wakes this thread, or is seen here.
        // Each side writes its own value before it reads the other's, which only `SeqCst` orders.
        let parks = sleeps && ticker.running.load(Ordering::SeqCst) == 0;
        // Not held while this thread sleeps. Otherwise the engine would outlive its last user.
        drop((engine, ticker));
        if parks { std::thread::park() } else { std::thread::sleep(TICK) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The parked thread finds that the ticker is gone, and ends.
        self.thread.unpark();
    }
}

/// A guard that keeps the ticker awake until it is dropped.
pub(crate) struct Ticking<'a>(&'a Ticker);

impl<'a> Ticking<'a> {
    pub(crate) fn new(ticker: &'a Ticker) -> Self {
        ticker.running.fetch_add(1, Ordering::SeqCst);
        if ticker.asleep.swap(false, Ordering::SeqCst) {
            ticker.thread.unpark();
        }
        Self(ticker)
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
