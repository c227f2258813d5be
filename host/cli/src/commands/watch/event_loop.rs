//! Waits for keys, requests, calls and signals, and does what a key leads to.

use super::super::Context;
use super::super::conduct::Interrupts;
use super::answers::CallToRun;
use super::request_feed::RequestFeed;
use super::runs::run_calls;
use super::screen_guard::SecondScreen;
use super::session::{AfterKey, WatchSession};
use crate::arguments::WatchArguments;
use crate::exit_code::Exit;
use crate::tty::{Key, KeyMode, Tty};
use portcullis::live::LiveReader;
use portcullis::{Answer, Approvals};
use std::ops::ControlFlow;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often the screen is drawn, so that the times of running calls go on.
const DRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Everything that a session waits for.
struct WatchEvents {
    interrupts: Interrupts,
    resized: Signal,
    reader: LiveReader,
    feed: RequestFeed,
    draws: Interval,
}

/// The terminal of a session. A part is missing while something else uses the terminal.
struct WatchTerminal<'a> {
    tty: &'a Tty,
    context: &'a Context,
    screen: Option<SecondScreen>,
    mode: Option<KeyMode<'a>>,
}

/// Runs until the person quits.
pub(super) async fn run(
    tty: &Tty,
    reader: LiveReader,
    approvals: &Approvals,
    (arguments, context): (&WatchArguments, &Context),
) -> anyhow::Result<Exit> {
    let mut events = WatchEvents::new(reader, approvals)?;
    let mut session = WatchSession::new(tty, approvals, arguments.quiet, context);
    let mut terminal = WatchTerminal { tty, context, screen: None, mode: None };
    loop {
        let (screen, typing) = terminal.ready()?;
        session.draw(screen)?;
        let Some(key) = events.next_key(&mut session, screen, typing).await? else { return Ok(Exit::Completed) };
        if act(&mut session, key, &mut terminal, &mut events).await?.is_break() {
            return Ok(Exit::Completed);
        }
    }
}

/// Does what a key leads to. Breaks if the person quits.
async fn act(
    session: &mut WatchSession<'_>,
    key: Key,
    terminal: &mut WatchTerminal<'_>,
    events: &mut WatchEvents,
) -> anyhow::Result<ControlFlow<()>> {
    let mut after = session.pressed(key).await;
    if let (AfterKey::Details, Some(typing)) = (&after, &terminal.mode) {
        terminal.screen = None;
        after = tokio::select! {
            () = events.interrupts.next() => AfterKey::Quit,
            after = session.details(typing) => after?,
        };
    }
    if let AfterKey::Reason = after {
        // A line is typed with the echo and the editing of the terminal.
        terminal.mode = None;
        after = tokio::select! {
            () = events.interrupts.next() => AfterKey::Quit,
            reason = session.reason(terminal.screen.as_ref()) => AfterKey::Answer(Answer::No { note: Some(reason?) }),
        };
    }
    if let AfterKey::Select = after {
        terminal.mode = None;
        after = tokio::select! {
            () = events.interrupts.next() => AfterKey::Quit,
            after = session.selection(terminal.screen.as_ref()) => after?,
        };
    }
    match after {
        AfterKey::Quit => return Ok(ControlFlow::Break(())),
        AfterKey::Stay | AfterKey::Reason | AfterKey::Select | AfterKey::Details => {}
        AfterKey::Answer(answer) => {
            // An answer that has begun is given all the same.
            let to_run = tokio::select! {
                () = events.interrupts.next() => return Ok(ControlFlow::Break(())),
                to_run = session.answer(&answer) => to_run,
            };
            if !to_run.is_empty() {
                terminal.run(&to_run, events).await?;
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

impl WatchEvents {
    fn new(reader: LiveReader, approvals: &Approvals) -> anyhow::Result<Self> {
        let (interrupts, resized) = (Interrupts::listen()?, signal(SignalKind::window_change())?);
        let mut draws = interval(DRAW_INTERVAL);
        // Calls on the first screen take long. The draws that were due meanwhile must not follow at once.
        draws.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self { interrupts, resized, reader, feed: RequestFeed::start(approvals), draws })
    }

    /// Shows what happens until a key is pressed. Returns `None` after a signal that ends the program.
    async fn next_key(
        &mut self,
        session: &mut WatchSession<'_>,
        screen: &SecondScreen,
        typing: &KeyMode<'_>,
    ) -> anyhow::Result<Option<Key>> {
        loop {
            tokio::select! {
                () = self.interrupts.next() => return Ok(None),
                key = typing.key() => return Ok(Some(key?)),
                event = self.reader.next() => {
                    session.apply(event, &mut self.reader);
                    // The next tick draws it. Many events can come between two ticks.
                    continue;
                }
                listing = self.feed.next() => session.receive(listing).await?,
                _ = self.draws.tick() => {}
                _ = self.resized.recv() => {}
            }
            session.draw(screen)?;
        }
    }
}

impl<'a> WatchTerminal<'a> {
    /// Enters the second screen and the mode for keys, if the session left them.
    fn ready(&mut self) -> anyhow::Result<(&SecondScreen, &KeyMode<'a>)> {
        let screen = match self.screen.take() {
            Some(screen) => screen,
            None => SecondScreen::enter(self.context.terminal)?,
        };
        let mode = match self.mode.take() {
            Some(mode) => mode,
            None => self.tty.keys()?,
        };
        Ok((self.screen.insert(screen), self.mode.insert(mode)))
    }

    /// Runs calls on the first screen, and waits until the person has read their replies.
    async fn run(&mut self, calls: &[CallToRun], events: &mut WatchEvents) -> anyhow::Result<()> {
        // The calls write to the first screen, and may ask for approval there.
        (self.screen, self.mode) = (None, None);
        run_calls(calls, self.context).await?;
        // A signal during the calls was about them.
        events.interrupts = Interrupts::listen()?;
        let mode = self.tty.keys()?;
        self.context.terminal.say("Press any key to go back. ");
        tokio::select! {
            () = events.interrupts.next() => {}
            key = mode.key() => drop(key?),
        }
        self.context.terminal.say("\n");
        Ok(())
    }
}
