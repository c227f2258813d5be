//! The prompt line of an approval request. However it ends, the next output starts on a new line.

use crate::question::{RememberedCovers, keys};
use crate::style::TextStyle;
use crate::terminal::Terminal;
use portcullis::approvals::{Status, Subject};
use portcullis::text::OneLine;
use portcullis::{Approvals, Question};

/// The prompt of a request. Dropping it without an answer ends the line and says why no answer is needed any more.
pub(crate) struct Prompt<'a> {
    terminal: Terminal,
    approvals: Option<&'a Approvals>,
    question: &'a str,
    stands: Stands,
}

/// How the person answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PromptInput {
    /// With one key.
    Key,
    /// With a line.
    Line,
}

/// The state of the prompt line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Open,
    Answered,
    Ended,
}

impl<'a> Prompt<'a> {
    /// Shows the keys. If an answer is a line, a prompt for it follows, which names the tool again.
    pub(crate) fn show(
        terminal: Terminal,
        question: &'a Question,
        approvals: Option<&'a Approvals>,
        (covers, input): (RememberedCovers, PromptInput),
    ) -> Self {
        let what = match question.subject {
            Subject::Call => "",
            Subject::Repeat => " once more",
            Subject::Resource { .. } => " to continue",
            Subject::Calls(_) => " to make these calls",
        };
        let keys = keys(question, covers, terminal.note_style(), terminal.note_width());
        match input {
            PromptInput::Key => terminal.say(&format!("{keys} ")),
            PromptInput::Line => {
                let answers = match (question.selectable_calls(), question.is_once()) {
                    (Some(_), _) => "y/y 1-3, 7/n/?",
                    (None, true) => "y/n/?",
                    (None, false) => "y/s/a/n/?",
                };
                terminal.say(&format!("{keys}\nAllow {}{what}? [{answers}] ", question.tool));
            }
        }
        Self { terminal, approvals, question: &question.id, stands: Stands::Open }
    }

    /// Records that a line was typed, or that the input ended.
    pub(crate) fn answered(mut self, line: Option<&str>) {
        let whole = line.is_some_and(|line| line.ends_with('\n'));
        // The terminal has echoed the line break of a whole line.
        self.stands = if whole { Stands::Ended } else { Stands::Answered };
    }

    /// Returns how the request was settled, if the answer did not come from here.
    fn elsewhere(&self) -> Option<String> {
        let question = now(self.approvals?.question(self.question))?.ok()?;
        match question.status {
            Status::Approved | Status::Running | Status::Done => {
                Some("Approved elsewhere, with `portcullis approvals`.".to_owned())
            }
            Status::Rejected => {
                let note = question.note.map(|note| format!(": {}", OneLine(&note))).unwrap_or_default();
                Some(format!("Rejected elsewhere, with `portcullis approvals`{note}"))
            }
            Status::Expired => Some("The request expired before it was answered.".to_owned()),
            Status::Pending | Status::Withdrawn | Status::Lost => None,
        }
    }
}

/// Runs a future to its end on a thread of its own, because a prompt that is dropped cannot wait for it.
fn now<T: Send>(future: impl Future<Output = T> + Send) -> Option<T> {
    let run = || Some(tokio::runtime::Builder::new_current_thread().build().ok()?.block_on(future));
    // A runtime cannot block on a future within the threads of another runtime.
    std::thread::scope(|scope| scope.spawn(run).join()).ok()?
}

impl Drop for Prompt<'_> {
    fn drop(&mut self) {
        if self.stands != Stands::Ended {
            self.terminal.say("\n");
        }
        if self.stands == Stands::Open
            && let Some(text) = self.elsewhere()
        {
            self.terminal.note(self.terminal.note_style().paint(TextStyle::Strong, text));
        }
    }
}
