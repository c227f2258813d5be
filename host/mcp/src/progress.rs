//! Sends the progress of a call as notifications, if the client asked for it. Each value is larger than the last, and
//! the rate is limited to what a person could read.

use portcullis::events::{Event, EventKind, Events};
use portcullis::text::OneLine;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Notifications that may be sent in a burst: enough for all steps of a short tool.
const BURST: u32 = 16;

/// Minimum average interval between notifications after a burst.
const INTERVAL: Duration = Duration::from_millis(100);

/// Maximum length of a message, in bytes: one line for a person.
const MESSAGE_BYTES_MAX: usize = 256;

/// The progress value of completed work. Fractions are sent as percentages.
const WHOLE: f64 = 100.0;

/// Factor by which a report without a fraction advances: this share of the square of the remaining percentage. The
/// protocol requires every value to be larger than the last. The steps shrink, but stay above [`STEP_DECIMALS`] for
/// half a day of reports at the pace of [`INTERVAL`].
const SIGN_OF_LIFE: f64 = 1e-5;

/// Decimals of a percentage that a tool reports. A 32-bit fraction has no more; further digits are conversion noise.
const PERCENT_DECIMALS: i32 = 4;

/// Decimals of a value from a report without a fraction.
const STEP_DECIMALS: i32 = 6;

/// Progress channel to the client of one request.
pub(crate) struct Voice {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    /// Cancelled when the client no longer waits for the request.
    cancelled: CancellationToken,
    told: Mutex<LastProgress>,
}

/// The progress that was last sent to the client.
#[derive(Clone, Copy, Debug, Default)]
struct LastProgress {
    value: f64,
    /// Whether the tool has reported a fraction, so that the total is known.
    measured: bool,
}

impl LastProgress {
    /// Returns the next progress to send, or `None` if the value would not increase.
    fn next(self, fraction: Option<f32>) -> Option<Self> {
        let fraction = fraction.filter(|fraction| (0.0..=1.0).contains(fraction));
        let value = match fraction {
            // As exact as the tool's value: three tenths become 30, not 30.000002.
            Some(fraction) => rounded(f64::from(fraction) * WHOLE, PERCENT_DECIMALS),
            None => rounded(self.value + (WHOLE - self.value).powi(2) * SIGN_OF_LIFE, STEP_DECIMALS),
        };
        // Nothing was sent before a first report of zero, so it is sent although it is not larger.
        let further = value > self.value || (!self.measured && self.value == 0.0);
        further.then_some(Self { value, measured: self.measured || fraction.is_some() })
    }
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}

impl Voice {
    /// Returns the progress channel to the client, if the request carried a progress token.
    pub(crate) fn of(cx: &RequestContext<RoleServer>) -> Option<Self> {
        let token = cx.meta.get_progress_token()?;
        Some(Self { peer: cx.peer.clone(), token, cancelled: cx.ct.clone(), told: Mutex::default() })
    }

    /// Sends a message of the host.
    pub(crate) async fn say(&self, message: &str) {
        self.tell(None, Some(message)).await;
    }

    /// Sends a progress notification. The text may be untrusted.
    async fn tell(&self, fraction: Option<f32>, message: Option<&str>) {
        // The lock is held until the notification is sent, so that values are sent in the order of their counting.
        let mut told = self.told.lock().await;
        let Some(next) = told.next(fraction) else { return };
        *told = next;
        let mut notification = ProgressNotificationParam::new(self.token.clone(), next.value);
        if next.measured {
            notification = notification.with_total(WHOLE);
        }
        if let Some(message) = message {
            notification = notification.with_message(line(message));
        }
        tokio::select! {
            biased;
            // When the client has closed its stream, nothing sends notifications, and the next future never ends.
            () = self.cancelled.cancelled() => {}
            // An error means that the client has disconnected. That ends the call elsewhere.
            _ = self.peer.notify_progress(notification) => {}
        }
    }
}

/// Returns the text as one line of bounded length.
fn line(text: &str) -> String {
    // Truncated before, so that a long text is not encoded in full, and after, because encoding lengthens it.
    let mut line = OneLine(&text[..text.floor_char_boundary(MESSAGE_BYTES_MAX)]).to_string();
    line.truncate(line.floor_char_boundary(MESSAGE_BYTES_MAX));
    line
}

/// Forwards the progress reports of a call until the call is over. Sends the last report before it returns.
pub(crate) async fn follow(voice: &Voice, mut events: Events, over: &CancellationToken) {
    let mut pace = ProgressPace::new(Instant::now());
    loop {
        let event = tokio::select! {
            biased;
            event = events.next() => event,
            () = over.cancelled() => None,
        };
        let Some(event) = event else { break };
        if let Some(wait) = pace.wait(Instant::now()) {
            tokio::select! {
                () = sleep_until(wait) => {}
                () = over.cancelled() => {}
            }
        }
        // Reports that arrived during the wait are out of date, except for the newest.
        let newest = std::iter::from_fn(|| if pace.hurries() { events.try_next() } else { None }).last();
        if tell(voice, &newest.unwrap_or(event)).await {
            pace.take(Instant::now());
        }
    }
    if let Some(last) = std::iter::from_fn(|| events.try_next()).filter(is_progress).last() {
        tell(voice, &last).await;
    }
}

fn is_progress(event: &Event) -> bool {
    matches!(event.kind, EventKind::Progress(_))
}

/// Sends an event if it is a progress report. Returns whether it was one.
async fn tell(voice: &Voice, event: &Event) -> bool {
    match &event.kind {
        EventKind::Progress(progress) => {
            voice.tell(progress.fraction, progress.title.as_deref()).await;
            true
        }
        EventKind::State(_) | EventKind::Lagged => false,
    }
}

/// Rate limiter: a burst, and then one notification per interval.
struct ProgressPace {
    left: u32,
    since: Instant,
}

impl ProgressPace {
    fn new(now: Instant) -> Self {
        Self { left: BURST, since: now }
    }

    /// Returns the time until which the next notification must wait, if it must.
    fn wait(&mut self, now: Instant) -> Option<Instant> {
        let earned = now.duration_since(self.since).as_millis() / INTERVAL.as_millis();
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(BURST);
            self.since = now;
        }
        (self.left == 0).then(|| self.since + INTERVAL)
    }

    /// Returns whether the burst is used up, so that the current notification had to wait.
    fn hurries(&self) -> bool {
        self.left == 0
    }

    fn take(&mut self, now: Instant) {
        if self.left == 0 {
            self.since = now;
        }
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(fractions: &[Option<f32>]) -> Vec<LastProgress> {
        let mut told = LastProgress::default();
        let next = |fraction: &Option<f32>| {
            let next = told.next(*fraction)?;
            told = next;
            Some(next)
        };
        fractions.iter().filter_map(next).collect()
    }

    #[test]
    fn every_value_is_larger_than_the_one_before() {
        let reports =
            [None, Some(0.0), Some(0.5), None, Some(0.25), Some(f32::NAN), Some(0.5), Some(2.0), Some(1.0), None];
        let values: Vec<f64> = values(&reports).iter().map(|told| told.value).collect();
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
        assert_eq!(values.last(), Some(&WHOLE));
    }

    #[test]
    fn a_value_has_no_more_digits_than_the_tool_reported() {
        for percent in 1..=100_u8 {
            let told = values(&[Some(f32::from(percent) / 100.0)]);
            assert_eq!(told[0].value, f64::from(percent));
        }
        let steps = values(&[None; 10_000]);
        assert_eq!(steps.len(), 10_000, "a tool that keeps reporting is heard for a long time");
        assert!(steps.iter().all(|told| told.value.to_string().len() <= "99.123456".len()), "{:?}", steps.last());
    }

    #[test]
    fn a_first_report_of_zero_is_sent() {
        let values = values(&[Some(0.0), Some(0.5), Some(1.0)]);
        let values: Vec<f64> = values.iter().map(|told| told.value).collect();
        assert_eq!(values, [0.0, 50.0, 100.0]);
    }

    #[test]
    fn after_the_burst_one_notification_is_allowed_per_interval() {
        let start = Instant::now();
        let mut pace = ProgressPace::new(start);
        for _ in 0..BURST {
            assert_eq!(pace.wait(start), None);
            pace.take(start);
        }
        assert_eq!(pace.wait(start), Some(start + INTERVAL));
        assert_eq!(pace.wait(start + INTERVAL), None);
        pace.take(start + INTERVAL);
        assert_eq!(pace.wait(start + INTERVAL), Some(start + INTERVAL * 2));
        assert_eq!(pace.wait(start + INTERVAL * 1000), None);
        assert_eq!(pace.left, BURST, "unused notifications do not add up beyond the burst");
    }

    #[test]
    fn a_message_is_one_short_line() {
        let message = line(&"\u{1b}[2J\n".repeat(1000));
        assert!(message.len() <= MESSAGE_BYTES_MAX && !message.contains(['\u{1b}', '\n']), "{message}");
    }
}
