//! Waits for what other threads, tasks and processes do.

use std::time::{Duration, Instant};

/// Timeout of every wait. It only makes a test fail; nothing else depends on it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Polls until there is a value. Fails after a timeout.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "timeout: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Does the same while other tasks of this thread run.
pub async fn eventually_async<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "timeout: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
