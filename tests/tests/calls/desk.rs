//! A site whose tools wait, ask and never end, and helpers that read its host's events.

use portcullis::approvals::Answering;
use portcullis::events::{CallState, Event, EventKind, Events};
use portcullis::{Answer, Approver, Host, HostBuilder, Question};
use portcullis_tests::{BlockOn, Manifest, Site, component, guest, module};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Allows everything. A desk adds rules for its own plugins.
const POLICY: &str = "[limits]\ntime = \"20 s\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// Asks once, and returns after the answer.
const ASKS: &str = r#"
(import "portcullis:tool/context@0.1.0" "ask" (func $ask (param i32 i32 i32 i32 i32 i32 i32)))
(data (i32.const 2048) "write")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $ask (i32.const 2048) (i32.const 5) (i32.const 2048) (i32.const 5) (i32.const 2048) (i32.const 5)
    (i32.const 3072))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
"#;

/// Sleeps for five milliseconds.
const NAPS: &str = r#"
(import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $subscribe (param i64) (result i32)))
(import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $block (call $subscribe (i64.const 5000000)))
  (call $answer (i32.const 0) (local.get 2) (local.get 3)))
"#;

/// A site on which no host is open yet.
pub(crate) struct Desk {
    pub(crate) site: Site,
    policy: String,
}

impl Desk {
    /// Makes a site with the good plugin, and one that is refused.
    pub(crate) fn new() -> Self {
        let site = Site::new();
        site.plugin("refused", b"no component");
        Self { site, policy: POLICY.to_owned() }
    }

    /// Adds a test guest under its own name.
    pub(crate) fn with(self, name: &str) -> Self {
        self.with_named(name, &Manifest::of(name))
    }

    /// Adds a test guest with this manifest.
    pub(crate) fn with_named(self, of: &str, manifest: &Manifest) -> Self {
        self.site.plugin(&manifest.name, &guest(of, manifest));
        self
    }

    /// Adds the good plugin under the name `asked`, which needs approval.
    pub(crate) fn with_asked(self) -> Self {
        self.with_named("good", &Manifest::of("asked")).rule("asked.*", "ask")
    }

    /// Adds the good plugin under the name `no`, which the policy denies.
    pub(crate) fn with_denied(self) -> Self {
        self.with_named("good", &Manifest::of("no")).rule("no.*", "deny")
    }

    /// Adds a guest that never ends, with a short time limit.
    pub(crate) fn with_loop(mut self) -> Self {
        self.policy.push_str("[plugin.loop-in-execute.limits]\ntime = \"100 ms\"\n");
        self.with("loop-in-execute")
    }

    fn rule(mut self, tool: &str, decision: &str) -> Self {
        self.policy.push_str(&format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"{decision}\"\n"));
        self
    }

    /// Adds a tool that asks while it runs and may write. Both need approval.
    pub(crate) fn with_asks(self) -> Self {
        let manifest = Manifest::of("asks").tool(|tool| tool.required = 2);
        self.site.plugin("asks", &component(&module(ASKS, &manifest)));
        self.rule("asks.*", "ask")
    }

    /// Adds tools that take a moment: one that only reads, one that is marked sequential, and one that may write.
    pub(crate) fn with_naps(self) -> Self {
        for (name, required, hints) in [("reader", 1, 1), ("sequential", 0, 16), ("writer", 2, 0)] {
            let manifest = Manifest::of(name).tool(|tool| (tool.required, tool.hints) = (required, hints));
            self.site.plugin(name, &component(&module(NAPS, &manifest)));
        }
        self
    }

    pub(crate) fn builder(&self) -> HostBuilder {
        self.site.builder(&self.policy).calls(32)
    }

    pub(crate) async fn open(&self) -> Host {
        self.builder().open().await.unwrap()
    }

    /// Returns the kinds of one call's audit entries.
    pub(crate) fn kinds(host: &Host, call: &str) -> Vec<String> {
        let mut kinds = Vec::new();
        let read = host
            .audit()
            .read(|entry| {
                if entry.document["call"] == call {
                    kinds.push(entry.document["kind"].as_str().unwrap_or_default().to_owned());
                }
                Ok(())
            })
            .block_on();
        assert_eq!(read.unwrap().fault, None);
        kinds
    }
}

/// An approver that approves as often as it has permits.
pub(crate) struct Gate {
    pub(crate) yes: Semaphore,
}

impl Gate {
    pub(crate) fn closed() -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self { yes: Semaphore::new(0) })
    }
}

impl Approver for Gate {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        Box::pin(async {
            self.yes.acquire().await.unwrap().forget();
            Answer::Yes
        })
    }
}

/// Returns a word for an event.
pub(crate) fn word(event: &Event) -> &'static str {
    match &event.kind {
        EventKind::State(state) => state.as_str(),
        EventKind::Progress(_) => "progress",
        EventKind::Lagged => "lagged",
    }
}

/// Returns all pending events, as words.
pub(crate) fn heard(events: &mut Events) -> Vec<&'static str> {
    std::iter::from_fn(|| events.try_next()).map(|event| word(&event)).collect()
}

/// Waits for an event that matches. Returns all events before it.
pub(crate) async fn until(events: &mut Events, mut is: impl FnMut(&Event) -> bool) -> Vec<Event> {
    let mut before = Vec::new();
    loop {
        // This timeout only makes a test fail; nothing else depends on it.
        let event = tokio::time::timeout(Duration::from_secs(20), events.next()).await;
        let event = event.unwrap_or_else(|_| panic!("no such event, only {before:?}")).expect("the host is open");
        if is(&event) {
            return before;
        }
        before.push(event);
    }
}

/// The sessions that currently run a tool.
#[derive(Debug, Default)]
pub(crate) struct Running {
    pub(crate) sessions: BTreeSet<String>,
    /// The maximum number of concurrent calls.
    pub(crate) most: usize,
    pub(crate) ended: usize,
}

impl Running {
    pub(crate) fn hear(&mut self, event: &Event) {
        let EventKind::State(state) = &event.kind else { return };
        let session = event.session.to_string();
        match state {
            CallState::Pending => {}
            CallState::Running => drop(self.sessions.insert(session)),
            CallState::Waiting => drop(self.sessions.remove(&session)),
            CallState::Ended(_) => {
                self.sessions.remove(&session);
                self.ended += 1;
            }
        }
        self.most = self.most.max(self.sessions.len());
    }
}
