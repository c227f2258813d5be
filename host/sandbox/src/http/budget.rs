//! Limits the requests per minute.

use portcullis_policy::recovery::RecoverMutex;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The length of the window.
const WINDOW: Duration = Duration::from_secs(60);

/// The requests of the last minute by all calls that share a client.
#[derive(Debug)]
pub(super) struct RequestPace {
    limit: u32,
    /// The times of the requests, the oldest first. Never more than the limit.
    sent: Mutex<VecDeque<Instant>>,
}

impl RequestPace {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, sent: Mutex::default() }
    }

    /// Counts one request at `now`, if the last minute is below the limit.
    ///
    /// # Errors
    /// The limit, if it is reached.
    pub(super) fn take(&self, now: Instant) -> Result<(), u32> {
        let mut sent = self.sent.lock_recovered();
        while sent.front().is_some_and(|oldest| now.saturating_duration_since(*oldest) >= WINDOW) {
            sent.pop_front();
        }
        if sent.len() >= self.limit as usize {
            return Err(self.limit);
        }
        sent.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_window_of_a_minute_has_more_requests_than_the_limit() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let pace = RequestPace::new(2);
        assert_eq!(pace.take(at(0)), Ok(()));
        assert_eq!(pace.take(at(50)), Ok(()));
        assert_eq!(pace.take(at(59)), Err(2));
        assert_eq!(pace.take(at(60)), Ok(()));
        assert_eq!(pace.take(at(100)), Err(2));
        assert_eq!(pace.take(at(110)), Ok(()));
        assert_eq!(RequestPace::new(0).take(start), Err(0));
    }
}
