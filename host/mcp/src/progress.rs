//! Progress of a call as notifications: only where the client asked for it, each further on than the one before, and
//! not more often than a person could read.

use portcullis::events::{Event, EventKind, Events};
use portcullis::text::OneLine;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Notifications that may go out at once: the steps of a short tool, all of them.
const BURST: u32 = 16;

/// One more each so often, in the long run.
const INTERVAL: Duration = Duration::from_millis(100);

/// The longest message, in bytes: a line for a person.
const MESSAGE_BYTES_MAX: usize = 256;

/// The value that stands for all of the work: fractions are told in percent.
const WHOLE: f64 = 100.0;

/// The share of the square of the remaining percentage that a report without a fraction adds. The protocol wants every
/// value to be larger than the last. The steps shrink, but stay above [`STEP_DECIMALS`] for half a day of reports at
/// the pace of [`INTERVAL`].
const SIGN_OF_LIFE: f64 = 1e-5;

/// Decimals of a percentage that a tool reports: what a 32-bit fraction holds. More would be noise of the conversion.
const PERCENT_DECIMALS: i32 = 4;

/// Decimals of a value between two reports with a fraction.
const STEP_DECIMALS: i32 = 6;

/// Tells one client of the progress of one request.
pub(crate) struct Voice {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    told: Mutex<Told>,
}

/// What the client was told last.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    value: f64,
    /// Whether the tool has said how much there is.
    measured: bool,
}

impl Told {
    /// What to tell next; nothing where the tool is no further than it was.
    fn next(self, fraction: Option<f32>) -> Option<Self> {
        let fraction = fraction.filter(|fraction| (0.0..=1.0).contains(fraction));
        let value = match fraction {
            // As exact as the tool was: three tenths are 30, and not 30.000002.
            Some(fraction) => rounded(f64::from(fraction) * WHOLE, PERCENT_DECIMALS),
            None => rounded(self.value + (WHOLE - self.value).powi(2) * SIGN_OF_LIFE, STEP_DECIMALS),
        };
        let further = value > self.value || (!self.measured && self.value == 0.0);
        further.then_some(Self { value, measured: self.measured || fraction.is_some() })
    }
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}

impl Voice {
    /// The voice to who made a request, if they want to hear it.
    pub(crate) fn of(cx: &RequestContext<RoleServer>) -> Option<Self> {
        let token = cx.meta.get_progress_token()?;
        Some(Self { peer: cx.peer.clone(), token, told: Mutex::default() })
    }

    /// Says something of the host's own.
    pub(crate) async fn say(&self, message: &str) {
        self.tell(None, Some(message)).await;
    }

    /// Tells how far the call is. The text is anybody's.
    async fn tell(&self, fraction: Option<f32>, message: Option<&str>) {
        // Held until it is on its way, so that what was counted first goes out first.
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
        // A client that is gone hears nothing; its call ends by other means.
        let _ = self.peer.notify_progress(notification).await;
    }
}

/// One line of bounded length.
fn line(text: &str) -> String {
    let mut line = OneLine(&text[..text.floor_char_boundary(MESSAGE_BYTES_MAX)]).to_string();
    line.truncate(line.floor_char_boundary(MESSAGE_BYTES_MAX));
    line
}

/// Tells of what a call's tool reports, until the call is over. The last report is told before this returns.
pub(crate) async fn follow(voice: &Voice, mut events: Events, over: &CancellationToken) {
    let mut pace = Pace::new(Instant::now());
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
        // What was reported while nothing could be told is out of date.
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

/// Whether there was something to tell.
async fn tell(voice: &Voice, event: &Event) -> bool {
    match &event.kind {
        EventKind::Progress(progress) => {
            voice.tell(progress.fraction, progress.title.as_deref()).await;
            true
        }
        EventKind::State(_) | EventKind::Lagged => false,
    }
}

/// So many at once, and then one at a time.
struct Pace {
    left: u32,
    since: Instant,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Self { left: BURST, since: now }
    }

    /// Until when the next one has to wait, if it has to.
    fn wait(&mut self, now: Instant) -> Option<Instant> {
        let earned = now.duration_since(self.since).as_millis() / INTERVAL.as_millis();
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(BURST);
            self.since = now;
        }
        (self.left == 0).then(|| self.since + INTERVAL)
    }

    /// Whether it is spent, and what comes has had to wait.
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

    fn values(fractions: &[Option<f32>]) -> Vec<Told> {
        let mut told = Told::default();
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
        assert_eq!(steps.len(), 10_000, "a tool that goes on is heard for long");
        assert!(steps.iter().all(|told| told.value.to_string().len() <= "99.123456".len()), "{:?}", steps.last());
    }

    #[test]
    fn the_first_report_of_nothing_done_is_told() {
        let values = values(&[Some(0.0), Some(0.5), Some(1.0)]);
        let values: Vec<f64> = values.iter().map(|told| told.value).collect();
        assert_eq!(values, [0.0, 50.0, 100.0]);
    }

    #[test]
    fn after_the_burst_there_is_one_each_interval() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        for _ in 0..BURST {
            assert_eq!(pace.wait(start), None);
            pace.take(start);
        }
        assert_eq!(pace.wait(start), Some(start + INTERVAL));
        assert_eq!(pace.wait(start + INTERVAL), None);
        pace.take(start + INTERVAL);
        assert_eq!(pace.wait(start + INTERVAL), Some(start + INTERVAL * 2));
        assert_eq!(pace.wait(start + INTERVAL * 1000), None);
        assert_eq!(pace.left, BURST, "what was not used is not saved up");
    }

    #[test]
    fn a_message_is_one_short_line() {
        let message = line(&"\u{1b}[2J\n".repeat(1000));
        assert!(message.len() <= MESSAGE_BYTES_MAX && !message.contains(['\u{1b}', '\n']), "{message}");
    }
}
