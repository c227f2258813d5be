//! What a person who watches sees, and what their keys mean. The same keys answer as below a call.

use super::super::Context;
use super::alert;
use super::answers::{CallToRun, answer};
use super::model::WatchModel;
use super::review::{Review, ReviewedPage, ReviewedRequest};
use super::screen::{OpenRequest, ScreenSize, draw};
use super::screen_guard::SecondScreen;
use crate::answer::{Offered, Ruling, WHICH_CALLS, ruling};
use crate::question::{RememberedCovers, Sheet, Unseen, choices, keys, laid_out};
use crate::time::Now;
use crate::tty::{Key, KeyMode, Tty};
use portcullis::approvals::{ApprovalError, Listing, ShownDigest};
use portcullis::live::{LiveEvent, LiveReader};
use portcullis::text::{OneLine, WithCauses};
use portcullis::{Answer, Approvals};

/// Size of a terminal that does not tell it.
const SIZE_DEFAULT: ScreenSize = ScreenSize { columns: 80, rows: 24 };

/// The prompt for the reason of a denial.
const WHY: &str = "Why? The model reads this; press Enter for no reason: ";

/// The request that is open, as it is on the screen.
struct ShownRequest {
    request: ReviewedRequest,
    covers: RememberedCovers,
    unseen: Unseen,
}

/// What the next key answers, as it was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AnswerTarget {
    Request(ShownDigest, RememberedCovers, Unseen),
    Page(ReviewedPage),
}

/// What the person sees.
pub(super) struct WatchSession<'a> {
    context: &'a Context,
    tty: &'a Tty,
    approvals: &'a Approvals,
    quiet: bool,
    model: WatchModel,
    request: Option<ShownRequest>,
    /// The review of all requests, while it is on the screen.
    review: Option<Review>,
    /// What was last drawn for an answer. Empty while something else is on the screen.
    target: Option<AnswerTarget>,
    /// What the host says about the last key.
    message: String,
}

/// What a key leads to.
pub(super) enum AfterKey {
    Stay,
    Answer(Answer),
    Reason,
    /// The person selects some of several calls.
    Select,
    Details,
    Quit,
}

impl<'a> WatchSession<'a> {
    pub(super) fn new(tty: &'a Tty, approvals: &'a Approvals, quiet: bool, context: &'a Context) -> Self {
        let model = WatchModel::default();
        Self {
            context,
            tty,
            approvals,
            quiet,
            model,
            request: None,
            review: None,
            target: None,
            message: String::new(),
        }
    }

    /// Applies a change, and those behind it.
    pub(super) fn apply(&mut self, event: LiveEvent, reader: &mut LiveReader) {
        self.model.apply(event);
        // Takes everything that waits, so that a burst of events is drawn once.
        while let Some(event) = reader.try_next() {
            self.model.apply(event);
        }
    }

    /// Takes a listing of the requests.
    pub(super) async fn receive(&mut self, listing: Result<Listing, ApprovalError>) -> anyhow::Result<()> {
        let listing = match listing {
            Ok(listing) => listing,
            // The ledger may be busy. A later listing follows.
            Err(error) => {
                self.message = OneLine(&format!("the requests cannot be read: {}", WithCauses(&error))).to_string();
                return Ok(());
            }
        };
        let new = self.model.receive(listing.questions);
        if !self.quiet {
            for request in &new {
                let text = alert::text(request);
                self.context.terminal.print(&alert::terminal_sequence(&text))?;
                alert::on_desktop(&text);
            }
        }
        self.open_selected().await;
        Ok(())
    }

    /// Reads the selected request, with what its call would change, unless it is already open.
    async fn open_selected(&mut self) {
        let Some(id) = self.model.selected().map(|request| request.id.clone()) else {
            self.request = None;
            return;
        };
        // An open request is not read again. If it has changed, its digest keeps an approval from counting.
        if self.request.as_ref().is_none_or(|shown| shown.request.question.id != id)
            && let Ok(open) = self.approvals.question(&id).await
            && let Some(request) = ReviewedRequest::of(open)
        {
            let covers = RememberedCovers::of(&request.question);
            // Nothing of it is on the screen yet, so no key can approve it.
            self.request = Some(ShownRequest { request, covers, unseen: Unseen::Some });
        }
    }

    /// Reads all requests, and begins to review them.
    async fn begin_review(&mut self) {
        let mut review = Review::default();
        for request in self.model.inbox() {
            // One that was answered meanwhile is not shown.
            if let Ok(open) = self.approvals.question(&request.id).await
                && let Some(request) = ReviewedRequest::of(open)
            {
                review.add(request);
            }
        }
        match review.requests() {
            [] => "No request can be reviewed here. Press ? to see the selected one.".clone_into(&mut self.message),
            [_, ..] => self.review = Some(review),
        }
    }

    pub(super) fn draw(&mut self, screen: &SecondScreen) -> anyhow::Result<()> {
        let (style, size) = (self.context.terminal.style(), self.size());
        if let Some(review) = &mut self.review {
            let rows = review.draw(&self.message, style, size);
            let target = AnswerTarget::Page(review.page());
            self.show(screen, &rows, Some(target))?;
            self.review.iter_mut().for_each(Review::was_drawn);
            return Ok(());
        }
        let open = self.request.as_ref();
        let open = open.map(|it| OpenRequest { question: &it.request.question, covers: it.covers });
        let drawn = draw(&self.model, open.as_ref(), &self.message, Now::read().as_millisecond(), (style, size));
        let target = |it: &ShownRequest| AnswerTarget::Request(it.request.digest.clone(), it.covers, drawn.unseen);
        let target = self.request.as_ref().map(target);
        self.show(screen, &drawn.rows, target)?;
        // Only after the rows are written: what was not drawn was not seen.
        if let Some(shown) = &mut self.request {
            shown.unseen = drawn.unseen;
        }
        Ok(())
    }

    /// Shows rows, and what the next key answers.
    fn show(&mut self, screen: &SecondScreen, rows: &[String], target: Option<AnswerTarget>) -> anyhow::Result<()> {
        // A key that was typed below something else must not answer this. Discarded before the rows are written, so
        // that no answer to them is lost.
        if target.is_some() && target != self.target {
            self.tty.forget_typed()?;
        }
        screen.draw(rows)?;
        self.target = target;
        Ok(())
    }

    fn size(&self) -> ScreenSize {
        let (columns, rows) = (self.context.terminal.width(), self.context.terminal.height());
        ScreenSize { columns: columns.unwrap_or(SIZE_DEFAULT.columns), rows: rows.unwrap_or(SIZE_DEFAULT.rows) }
    }

    /// Takes a key below what is on the screen.
    pub(super) async fn pressed(&mut self, key: Key) -> AfterKey {
        self.message.clear();
        if self.review.is_some() {
            return self.pressed_in_review(key);
        }
        match key {
            Key::Character('q') | Key::End => AfterKey::Quit,
            Key::Character(key @ ('j' | 'k')) => {
                self.model.select(key == 'j');
                self.open_selected().await;
                AfterKey::Stay
            }
            Key::Character('r') => {
                self.begin_review().await;
                AfterKey::Stay
            }
            Key::Character(key) => self.pressed_below_request(key),
            Key::Other => AfterKey::Stay,
        }
    }

    /// Takes a key below the open request.
    fn pressed_below_request(&mut self, key: char) -> AfterKey {
        let Some(shown) = &mut self.request else { return AfterKey::Stay };
        match ruling(Some(&key.to_string()), Offered::of(&shown.request.question), shown.unseen, shown.covers) {
            Ruling::Answer(Answer::No { .. }) => return AfterKey::Reason,
            Ruling::Answer(answer) => return AfterKey::Answer(answer),
            Ruling::More => return AfterKey::Details,
            Ruling::Select => return AfterKey::Select,
            Ruling::Choose(covers) => shown.covers = RememberedCovers::chosen(covers),
            Ruling::Again(why) => why.clone_into(&mut self.message),
        }
        AfterKey::Stay
    }

    /// Takes a key below a page of the review. An approval needs every row on the screen.
    fn pressed_in_review(&mut self, key: Key) -> AfterKey {
        let Some(review) = &mut self.review else { return AfterKey::Stay };
        match key {
            Key::End => return AfterKey::Quit,
            Key::Character('q') => self.review = None,
            Key::Character(' ' | 'j') => review.next(),
            Key::Character('b' | 'k') => review.previous(),
            Key::Character('n' | 'N') => return AfterKey::Reason,
            Key::Character('y' | 'Y') if review.unseen_rows() == 0 => return AfterKey::Answer(Answer::Yes),
            Key::Character('y' | 'Y') => {
                let left = review.unseen_rows();
                self.message = format!("{left} more rows were not on the screen yet. Press space to see them.");
            }
            Key::Character(_) => "Press space, b, y, n or q.".clone_into(&mut self.message),
            Key::Other => {}
        }
        AfterKey::Stay
    }

    /// Takes the numbers of the calls that are approved, of the open request.
    pub(super) async fn selection(&mut self, screen: Option<&SecondScreen>) -> anyhow::Result<AfterKey> {
        let numbers = self.line(screen, WHICH_CALLS).await?;
        let Some(shown) = &self.request else { return Ok(AfterKey::Stay) };
        let (question, unseen) = (&shown.request.question, shown.unseen);
        // Without numbers, this selects nothing, and not everything.
        let line = format!("y {}", numbers.as_deref().filter(|numbers| !numbers.is_empty()).unwrap_or("none"));
        match ruling(Some(&line), Offered::of(question), unseen, shown.covers) {
            Ruling::Answer(answer) => return Ok(AfterKey::Answer(answer)),
            Ruling::Again(why) => why.clone_into(&mut self.message),
            Ruling::More | Ruling::Select | Ruling::Choose(_) => {}
        }
        Ok(AfterKey::Stay)
    }

    /// Gives an answer to the open request, or to all of the review. Returns the calls to run here.
    pub(super) async fn answer(&mut self, given: &Answer) -> Vec<CallToRun> {
        let answers = if let Some(review) = self.review.take() {
            let answers = answer(self.approvals, review.requests(), given).await;
            self.message = answers.message();
            answers
        } else if let Some(shown) = self.request.take() {
            let answers = answer(self.approvals, std::slice::from_ref(&shown.request), given).await;
            self.message = answers.message_of_one(&shown.request);
            answers
        } else {
            return Vec::new();
        };
        // The open request may be one of those of the review. The next listing has those that are still open.
        self.request = None;
        self.open_selected().await;
        answers.to_run
    }

    /// Reads why calls are denied: in the last row of the second screen, or below the details on the first one.
    pub(super) async fn reason(&self, screen: Option<&SecondScreen>) -> anyhow::Result<String> {
        Ok(match self.line(screen, WHY).await?.as_deref() {
            None | Some("") => "the person said no".to_owned(),
            Some(reason) => reason.to_owned(),
        })
    }

    async fn line(&self, screen: Option<&SecondScreen>, prompt: &str) -> anyhow::Result<Option<String>> {
        match screen {
            Some(screen) => screen.prompt(self.size().rows, prompt)?,
            None => self.context.terminal.print(prompt)?,
        }
        let line = self.tty.line().await?;
        if let Some(screen) = screen {
            screen.hide_cursor()?;
        }
        Ok(line.map(|line| line.trim().to_owned()))
    }

    /// Shows everything about the open request on the first screen, where a person can scroll, and takes one key.
    pub(super) async fn details(&mut self, typing: &KeyMode<'_>) -> anyhow::Result<AfterKey> {
        let Some(shown) = &mut self.request else { return Ok(AfterKey::Stay) };
        let terminal = self.context.terminal;
        let question = &shown.request.question;
        let laid_out = laid_out(question, Sheet::Details, terminal);
        shown.unseen = laid_out.unseen;
        let style = terminal.style();
        let keys = keys(question, shown.covers, style, terminal.width());
        let below = format!("{}{keys}  any other key: back ", choices(question, style, None));
        // What was typed before cannot be an answer to the details, nor to the screen that follows them.
        self.target = None;
        self.tty.forget_typed()?;
        terminal.print(&format!("{}{below}", laid_out.text))?;
        let key = typing.key().await?;
        terminal.print("\n")?;
        let Key::Character(key) = key else { return Ok(AfterKey::Stay) };
        let after = self.pressed_below_request(key);
        // Any other key goes back without a word.
        self.message.clear();
        Ok(match after {
            AfterKey::Details => AfterKey::Stay,
            after => after,
        })
    }
}
