//! One line on stderr that is written over while something takes time, and only where a person watches.

use crate::style::Look;
use crate::terminal::Terminal;
use portcullis::policy::PluginName;
use portcullis::text::OneLine;
use portcullis::{CallState, Event, EventKind, Events, Observer, Progress};
use std::convert::Infallible;
use std::future::pending;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a running clock is drawn: a tenth of a second is what it shows.
const TICK: Duration = Duration::from_millis(100);

/// Where the width is not known.
const WIDTH_DEFAULT: usize = 80;

/// A line that is written over.
pub(crate) struct StatusLine {
    terminal: Terminal,
    shown: Mutex<bool>,
}

impl StatusLine {
    /// Shows nothing yet.
    pub(crate) fn new(terminal: Terminal) -> Arc<Self> {
        Arc::new(Self { terminal, shown: Mutex::new(false) })
    }

    /// Shows text of any origin in place of what was there.
    fn show(&self, text: &str) {
        if !self.terminal.can_rewrite() {
            return;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        *shown = true;
        let width = self.terminal.note_width().unwrap_or(WIDTH_DEFAULT);
        let line: String = OneLine(text).to_string().chars().take(width.saturating_sub(1)).collect();
        self.terminal.say(&format!("\r\x1b[2K{}", self.terminal.note_style().paint(Look::Quiet, line)));
    }

    /// Takes it away, so that something else can be written.
    pub(crate) fn clear(&self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *shown) {
            self.terminal.say("\r\x1b[2K");
        }
    }
}

/// Shows that a plugin is being compiled, and for how long.
pub(crate) struct CompileProgress {
    line: Arc<StatusLine>,
    clock: Mutex<Option<Clock>>,
}

/// A thread that draws until its sender is dropped.
struct Clock {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl CompileProgress {
    /// Shows it on this line.
    pub(crate) fn new(line: &Arc<StatusLine>) -> Self {
        Self { line: Arc::clone(line), clock: Mutex::new(None) }
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        let clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Clock { stop, thread }) = clock {
            drop(stop);
            // A clock that panicked has drawn its last; the work goes on.
            let _ = thread.join();
        }
        self.line.clear();
    }
}

impl Observer for CompileProgress {
    fn compiling(&self, plugin: &PluginName) {
        self.finish();
        if self.line.terminal.can_rewrite() {
            *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = Some(Clock::start(&self.line, plugin));
        }
    }

    fn compiled(&self, _: &PluginName) {
        self.finish();
    }
}

impl Clock {
    fn start(line: &Arc<StatusLine>, plugin: &PluginName) -> Self {
        let (stop, stopped) = mpsc::channel();
        let (line, plugin, begun) = (Arc::clone(line), plugin.clone(), Instant::now());
        let draw = move || {
            loop {
                line.show(&format!("compiling {plugin} … {:.1} s", begun.elapsed().as_secs_f64()));
                if stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        Self { stop, thread: thread::spawn(draw) }
    }
}

/// Shows what the running tool of the one call says of its progress, for as long as this is polled.
pub(crate) async fn follow(mut events: Events, line: &StatusLine) -> Infallible {
    let mut followed = Followed::default();
    while let Some(event) = events.next().await {
        followed.hear(event);
        // All that has happened, before anything is drawn: what was reported just before a question must not be drawn
        // over it.
        while let Some(event) = events.try_next() {
            followed.hear(event);
        }
        if let Some(progress) = followed.news() {
            line.show(&progress_text(&progress));
        }
    }
    pending().await
}

/// What is known of the one call.
#[derive(Default)]
struct Followed {
    asking: bool,
    latest: Option<Arc<Progress>>,
}

impl Followed {
    fn hear(&mut self, event: Event) {
        match event.kind {
            EventKind::Progress(progress) => self.latest = Some(progress),
            EventKind::State(state) => self.asking = state == CallState::Waiting,
            EventKind::Lagged => {}
        }
    }

    /// The newest progress that may be drawn: none while a person reads a question.
    fn news(&mut self) -> Option<Arc<Progress>> {
        self.latest.take().filter(|_| !self.asking)
    }
}

/// The host's label and number first, so that the tool's words cannot pass for them.
fn progress_text(progress: &Progress) -> String {
    let percent = progress.fraction.filter(|fraction| (0.0..=1.0).contains(fraction));
    let percent = percent.map(|fraction| format!(" {:.0} %", fraction * 100.0)).unwrap_or_default();
    match &progress.title {
        Some(title) => format!("running{percent}, the tool says: {title}"),
        None => format!("running{percent} …"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reported_before_a_question_is_not_drawn_over_it() {
        let event = |kind| {
            let text = || Arc::from("");
            Event { call: text(), session: text(), tool: text(), at: std::time::SystemTime::UNIX_EPOCH, kind }
        };
        let mut followed = Followed::default();
        followed.hear(event(EventKind::Progress(Arc::default())));
        assert!(followed.news().is_some());
        followed.hear(event(EventKind::Progress(Arc::default())));
        followed.hear(event(EventKind::State(CallState::Waiting)));
        assert!(followed.news().is_none());
        followed.hear(event(EventKind::State(CallState::Running)));
        assert!(followed.news().is_none(), "it is out of date by now");
    }

    #[test]
    fn a_fraction_that_is_none_is_not_shown() {
        let progress = |fraction| Progress { title: None, metadata: None, fraction };
        assert_eq!(progress_text(&progress(Some(0.5))), "running 50 % …");
        for fraction in [None, Some(f32::NAN), Some(f32::INFINITY), Some(-1.0), Some(1.5)] {
            assert_eq!(progress_text(&progress(fraction)), "running …");
        }
    }
}
