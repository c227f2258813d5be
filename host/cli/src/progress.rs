//! A status line on stderr that is overwritten while something takes time. Shown only on a terminal.

use crate::style::TextStyle;
use crate::terminal::Terminal;
use crate::view::size;
use portcullis::events::{CallState, Event, EventKind, Events, Progress};
use portcullis::plugins::Observer;
use portcullis::policy::PluginName;
use portcullis::policy::recovery::RecoverMutex;
use portcullis::text::OneLine;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the clock is drawn. It shows tenths of a second.
const TICK: Duration = Duration::from_millis(100);

/// Columns of a terminal of unknown width.
const WIDTH_DEFAULT: usize = 80;

/// A line that is overwritten.
pub(crate) struct StatusLine {
    terminal: Terminal,
    shown: Mutex<bool>,
}

impl StatusLine {
    /// Creates a line that shows nothing yet.
    pub(crate) fn new(terminal: Terminal) -> Arc<Self> {
        Arc::new(Self { terminal, shown: Mutex::new(false) })
    }

    /// Replaces the text of the line. Encodes it, so it can have any origin.
    pub(crate) fn show(&self, text: &str) {
        if !self.terminal.can_rewrite() {
            return;
        }
        // Held while the line is written, so that `clear` cannot come in between.
        let mut shown = self.shown.lock_recovered();
        *shown = true;
        let width = self.terminal.note_width().unwrap_or(WIDTH_DEFAULT);
        let line: String = OneLine(text).to_string().chars().take(width.saturating_sub(1)).collect();
        self.terminal.say(&format!("\r\x1b[2K{}", self.terminal.note_style().paint(TextStyle::Quiet, line)));
    }

    /// Removes the line, so that something else can be written.
    pub(crate) fn clear(&self) {
        let mut shown = self.shown.lock_recovered();
        if std::mem::take(&mut *shown) {
            self.terminal.say("\r\x1b[2K");
        }
    }
}

/// Shows which plugins are being compiled, how many are done, and for how long the slowest takes.
pub(crate) struct CompileProgress {
    line: Arc<StatusLine>,
    compiling: Arc<Mutex<Compiling>>,
    clock: Mutex<Option<ProgressThread>>,
}

/// What is known about the plugins that load.
#[derive(Default)]
struct Compiling {
    /// The files that have loaded, and all files. Zero if a single plugin is compiled.
    done: usize,
    total: usize,
    /// The sizes of the plugins that are or will be compiled, in bytes.
    sizes: BTreeMap<PluginName, u64>,
    /// The plugins that are being compiled, with their start times.
    begun: BTreeMap<PluginName, Instant>,
}

/// A thread that draws until its sender is dropped.
struct ProgressThread {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl CompileProgress {
    /// Creates the observer for a line.
    pub(crate) fn new(line: &Arc<StatusLine>) -> Self {
        Self { line: Arc::clone(line), compiling: Arc::default(), clock: Mutex::new(None) }
    }
}

impl Observer for CompileProgress {
    fn advanced(&self, done: usize, total: usize) {
        let mut compiling = self.compiling.lock_recovered();
        (compiling.done, compiling.total) = (done, total);
    }

    fn queued(&self, plugin: &PluginName, bytes: u64) {
        self.compiling.lock_recovered().sizes.insert(plugin.clone(), bytes);
    }

    fn compiling(&self, plugin: &PluginName) {
        // Without a line to overwrite, no thread has to draw.
        if !self.line.terminal.can_rewrite() {
            return;
        }
        // `clock` is locked before `compiling`, as in `compiled`, so the two cannot deadlock.
        let mut clock = self.clock.lock_recovered();
        self.compiling.lock_recovered().begun.insert(plugin.clone(), Instant::now());
        clock.get_or_insert_with(|| ProgressThread::start(&self.line, &self.compiling));
    }

    fn compiled(&self, plugin: &PluginName) {
        let mut clock = self.clock.lock_recovered();
        let mut compiling = self.compiling.lock_recovered();
        compiling.begun.remove(plugin);
        if !compiling.begun.is_empty() {
            return;
        }
        // The thread takes this lock to draw. Joining it under the lock would deadlock.
        drop(compiling);
        if let Some(ProgressThread { stop, thread }) = clock.take() {
            drop(stop);
            // If the clock panicked, nothing more is drawn, and compiling continues.
            let _ = thread.join();
        }
        self.line.clear();
    }
}

impl ProgressThread {
    fn start(line: &Arc<StatusLine>, compiling: &Arc<Mutex<Compiling>>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let (line, compiling) = (Arc::clone(line), Arc::clone(compiling));
        let draw = move || {
            loop {
                let text = compiling.lock_recovered().text(Instant::now());
                if let Some(text) = text {
                    line.show(&text);
                }
                // Everything but a timeout means that the sender was dropped.
                if stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        Self { stop, thread: thread::spawn(draw) }
    }
}

impl Compiling {
    /// Formats the count and the plugins with their sizes, longest-running first, with the time of that one.
    fn text(&self, now: Instant) -> Option<String> {
        let mut begun: Vec<(&Instant, &PluginName)> =
            self.begun.iter().map(|(plugin, begun)| (begun, plugin)).collect();
        begun.sort();
        let (first, _) = begun.first()?;
        let seconds = now.saturating_duration_since(**first).as_secs_f64();
        let count = match self.total {
            0 | 1 => String::new(),
            total => format!(" {}/{total}:", (self.done + begun.len()).min(total)),
        };
        let name = |plugin: &PluginName| match self.sizes.get(plugin) {
            Some(bytes) => format!("{plugin} ({})", size(*bytes)),
            None => plugin.to_string(),
        };
        let names: Vec<String> = begun.iter().map(|(_, plugin)| name(plugin)).collect();
        Some(format!("compiling{count} {} … {seconds:.1} s", names.join(", ")))
    }
}

/// Shows the progress that the tool of the call reports, for as long as this is polled.
pub(crate) async fn follow(mut events: Events, line: &StatusLine) -> Infallible {
    let mut followed = Followed::default();
    while let Some(event) = events.next().await {
        followed.hear(event);
        // Take all pending events before drawing anything, so that progress reported just before an approval request is
        // not drawn over it.
        while let Some(event) = events.try_next() {
            followed.hear(event);
        }
        if let Some(progress) = followed.news() {
            line.show(&progress_text(&progress));
        }
    }
    pending().await
}

/// The state of the call.
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

    /// Takes the newest progress. Returns `None` while an approval request is on the screen.
    fn news(&mut self) -> Option<Arc<Progress>> {
        self.latest.take().filter(|_| !self.asking)
    }
}

/// Formats the progress. The host's label and number come first, so that the tool's text cannot imitate them.
fn progress_text(progress: &Progress) -> String {
    // The fraction comes from the tool, and may be NaN.
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
    fn progress_is_not_drawn_over_an_approval_request() {
        let event = |kind| {
            let text = || Arc::from("");
            let at = std::time::SystemTime::UNIX_EPOCH;
            let (principal, agent, targets, code) = (text(), None, Arc::default(), None);
            Event {
                call: text(),
                session: text(),
                tool: text(),
                principal,
                agent,
                parent: None,
                targets,
                started: at,
                code,
                arguments: None,
                result: None,
                at,
                kind,
            }
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
    fn the_plugins_are_counted_and_the_one_that_takes_longest_is_named_first() {
        let (began, name) = (Instant::now(), |name| PluginName::new(name).unwrap());
        let later = began + Duration::from_secs(2);
        let mut compiling = Compiling::default();
        assert_eq!(compiling.text(began), None);
        compiling.begun.insert(name("files"), later);
        let now = began + Duration::from_millis(3140);
        assert_eq!(compiling.text(now).as_deref(), Some("compiling files … 1.1 s"));
        compiling.begun.insert(name("web"), began);
        compiling.sizes.insert(name("web"), 37 << 20);
        (compiling.done, compiling.total) = (1, 4);
        assert_eq!(compiling.text(now).as_deref(), Some("compiling 3/4: web (37.0 MiB), files … 3.1 s"));
    }

    #[test]
    fn an_invalid_fraction_is_not_shown() {
        let progress = |fraction| Progress { title: None, metadata: None, fraction };
        assert_eq!(progress_text(&progress(Some(0.5))), "running 50 % …");
        for fraction in [None, Some(f32::NAN), Some(f32::INFINITY), Some(-1.0), Some(1.5)] {
            assert_eq!(progress_text(&progress(fraction)), "running …");
        }
    }
}
