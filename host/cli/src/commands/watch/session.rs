//! A person who watches at a terminal. The same keys answer as below a call.

use super::super::Context;
use super::super::conduct::Interrupts;
use super::alert;
use super::model::WatchModel;
use super::screen::{OpenRequest, ScreenSize, draw};
use super::screen_guard::SecondScreen;
use crate::answer::{Ruling, ruling};
use crate::arguments::WatchArguments;
use crate::exit_code::Exit;
use crate::question::{FILE_CHANGED, RememberedCovers, Sheet, Unseen, choices, keys, laid_out};
use crate::short_id::short_id;
use crate::terminal::Terminal;
use crate::time::Now;
use crate::tty::{Key, KeyMode, Tty};
use portcullis::approvals::Onward;
use portcullis::live::{LiveEvent, LiveReader};
use portcullis::text::{OneLine, WithCauses};
use portcullis::{Answer, Approvals, Question};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

/// How often the requests are looked for and the screen is drawn. A request is on the screen within 200 ms.
const LOOK: Duration = Duration::from_millis(100);

/// Size of a terminal that does not tell it.
const SIZE_DEFAULT: ScreenSize = ScreenSize { columns: 80, rows: 24 };

/// The request that is open, as it is on the screen.
struct ShownRequest {
    question: Question,
    covers: RememberedCovers,
    unseen: Unseen,
}

/// What the person sees.
struct WatchSession<'a> {
    terminal: Terminal,
    tty: &'a Tty,
    approvals: &'a Approvals,
    quiet: bool,
    model: WatchModel,
    request: Option<ShownRequest>,
    message: String,
}

/// What a key leads to.
enum AfterKey {
    Stay,
    Reason,
    Details,
    Quit,
}

/// Runs until the person quits.
pub(super) async fn run(
    tty: &Tty,
    mut reader: LiveReader,
    approvals: &Approvals,
    (arguments, context): (&WatchArguments, &Context),
) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    let mut resized = signal(SignalKind::window_change())?;
    let (terminal, quiet, model) = (context.terminal, arguments.quiet, WatchModel::default());
    let mut session = WatchSession { terminal, tty, approvals, quiet, model, request: None, message: String::new() };
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut screen = Some(SecondScreen::enter(terminal)?);
    let mut mode = Some(tty.keys()?);
    loop {
        let (Some(on), Some(typing)) = (&screen, &mode) else { return Ok(Exit::Completed) };
        let key = tokio::select! {
            () = interrupts.next() => return Ok(Exit::Completed),
            key = typing.key() => key?,
            event = reader.next() => {
                session.apply(event, &mut reader);
                continue;
            }
            _ = looks.tick() => {
                session.look().await?;
                session.draw(on)?;
                continue;
            }
            _ = resized.recv() => {
                session.draw(on)?;
                continue;
            }
        };
        session.message.clear();
        match session.pressed(key).await? {
            AfterKey::Stay => {}
            AfterKey::Quit => return Ok(Exit::Completed),
            AfterKey::Reason => {
                drop(mode.take());
                tokio::select! {
                    () = interrupts.next() => return Ok(Exit::Completed),
                    reason = session.reason(on) => session.deny(reason?).await?,
                }
                mode = Some(tty.keys()?);
            }
            AfterKey::Details => {
                drop(screen.take());
                tokio::select! {
                    () = interrupts.next() => return Ok(Exit::Completed),
                    after = session.details(&mut mode) => after?,
                }
                screen = Some(SecondScreen::enter(terminal)?);
            }
        }
        if let Some(on) = &screen {
            session.draw(on)?;
        }
    }
}

impl<'t> WatchSession<'t> {
    /// Applies a change, and those behind it.
    fn apply(&mut self, event: LiveEvent, reader: &mut LiveReader) {
        self.model.apply(event);
        while let Some(event) = reader.try_next() {
            self.model.apply(event);
        }
    }

    /// Looks for new requests, and for changes of the files of the open one.
    async fn look(&mut self) -> anyhow::Result<()> {
        let listing = match self.approvals.list().await {
            Ok(listing) => listing,
            // The ledger may be busy. The next look tries again.
            Err(error) => {
                self.message = OneLine(&format!("the requests cannot be read: {}", WithCauses(&error))).to_string();
                return Ok(());
            }
        };
        let new = self.model.receive(listing.questions);
        if !self.quiet {
            for request in &new {
                let text = alert::text(request);
                self.terminal.print(&alert::terminal_sequence(&text))?;
                alert::on_desktop(&text);
            }
        }
        let Some(id) = self.model.selected().map(|request| request.id.clone()) else {
            self.request = None;
            return Ok(());
        };
        if self.request.as_ref().is_none_or(|shown| shown.question.id != id)
            && let Ok(open) = self.approvals.question(&id).await
            && let Some(question) = open.question
        {
            let covers = RememberedCovers::of(&question);
            self.request = Some(ShownRequest { question, covers, unseen: Unseen::Some });
        }
        Ok(())
    }

    fn draw(&mut self, screen: &SecondScreen) -> anyhow::Result<()> {
        let open = self.request.as_ref().map(|it| OpenRequest { question: &it.question, covers: it.covers });
        let now = Now::read().as_millisecond();
        let drawn = draw(&self.model, open.as_ref(), &self.message, now, (self.terminal.style(), self.size()));
        screen.draw(&drawn.rows)?;
        if let Some(shown) = &mut self.request {
            shown.unseen = drawn.unseen;
        }
        Ok(())
    }

    fn size(&self) -> ScreenSize {
        let (columns, rows) = (self.terminal.width(), self.terminal.height());
        ScreenSize { columns: columns.unwrap_or(SIZE_DEFAULT.columns), rows: rows.unwrap_or(SIZE_DEFAULT.rows) }
    }

    async fn pressed(&mut self, key: Key) -> anyhow::Result<AfterKey> {
        let typed = match key {
            Key::Character('q') | Key::End => return Ok(AfterKey::Quit),
            Key::Character(key @ ('j' | 'k')) => {
                self.model.select(key == 'j');
                self.look().await?;
                return Ok(AfterKey::Stay);
            }
            Key::Character(key) => key.to_string(),
            Key::Other => return Ok(AfterKey::Stay),
        };
        let Some(shown) = &mut self.request else { return Ok(AfterKey::Stay) };
        match ruling(Some(&typed), shown.question.offers.len(), shown.unseen, shown.covers) {
            Ruling::Answer(Answer::No { .. }) => return Ok(AfterKey::Reason),
            Ruling::Answer(answer) => self.approve(&answer).await?,
            Ruling::More => return Ok(AfterKey::Details),
            Ruling::Choose(covers) => shown.covers = RememberedCovers::chosen(covers),
            Ruling::Again(why) => why.clone_into(&mut self.message),
        }
        Ok(AfterKey::Stay)
    }

    /// Approves the open request, if it still is what is on the screen.
    async fn approve(&mut self, answer: &Answer) -> anyhow::Result<()> {
        let Some(shown) = &mut self.request else { return Ok(()) };
        if let Ok(open) = self.approvals.question(&shown.question.id).await
            && let Some(now) = open.question
            && now.difference != shown.question.difference
        {
            shown.question = now;
            FILE_CHANGED.clone_into(&mut self.message);
            return Ok(());
        }
        self.answer(answer).await
    }

    async fn deny(&mut self, reason: String) -> anyhow::Result<()> {
        let note = match reason.trim() {
            "" => "the person said no",
            reason => reason,
        };
        self.answer(&Answer::No { note: Some(note.to_owned()) }).await
    }

    async fn answer(&mut self, answer: &Answer) -> anyhow::Result<()> {
        let Some(shown) = self.request.take() else { return Ok(()) };
        let id = short_id(&shown.question.id);
        self.message = match self.approvals.answer(&shown.question.id, answer).await {
            Ok(Onward::There) => format!("approved {}: its call runs", shown.question.tool),
            Ok(Onward::Here) => format!(
                "approved {}, but no call waits any more: to run it, run `portcullis approvals approve {id}`",
                shown.question.tool
            ),
            Ok(Onward::Ended) => format!("denied {}", shown.question.tool),
            Err(error) => OneLine(&format!("not answered: {}", WithCauses(&error))).to_string(),
        };
        self.look().await
    }

    /// Reads why the call is denied, in the last row.
    async fn reason(&self, screen: &SecondScreen) -> anyhow::Result<String> {
        screen.prompt(self.size().rows, "Why? The model reads this; press Enter for no reason: ")?;
        let line = self.tty.line().await?;
        screen.hide_cursor()?;
        Ok(line.unwrap_or_default())
    }

    /// Shows everything about the open request on the first screen, where a person can scroll, and takes one answer.
    async fn details(&mut self, mode: &mut Option<KeyMode<'t>>) -> anyhow::Result<()> {
        let Some(shown) = &mut self.request else { return Ok(()) };
        let laid_out = laid_out(&shown.question, Sheet::Details, self.terminal);
        shown.unseen = laid_out.unseen;
        let style = self.terminal.style();
        let keys = keys(&shown.question, shown.covers, style, self.terminal.width());
        let below = format!("{}{keys}  any other key: back ", choices(&shown.question, style, None));
        self.terminal.print(&format!("{}{below}", laid_out.text))?;
        let Some(typing) = mode else { return Ok(()) };
        let key = typing.key().await?;
        self.terminal.print("\n")?;
        let Key::Character(key) = key else { return Ok(()) };
        match ruling(Some(&key.to_string()), shown.question.offers.len(), shown.unseen, shown.covers) {
            Ruling::Answer(Answer::No { .. }) => {
                *mode = None;
                self.terminal.print("Why? The model reads this; press Enter for no reason: ")?;
                let reason = self.tty.line().await?.unwrap_or_default();
                let tty: &'t Tty = self.tty;
                *mode = Some(tty.keys()?);
                self.deny(reason).await
            }
            Ruling::Answer(answer) => self.approve(&answer).await,
            Ruling::Choose(covers) => {
                shown.covers = RememberedCovers::chosen(covers);
                Ok(())
            }
            Ruling::More | Ruling::Again(_) => Ok(()),
        }
    }
}
