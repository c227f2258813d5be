//! The prompt line of an approval request. However it ends, the next output starts on a new line.

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

/// The state of the prompt line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Open,
    Answered,
    Ended,
}

impl<'a> Prompt<'a> {
    /// Shows the prompt. It names the tool again, because a small screen has scrolled the top of the request away.
    pub(crate) fn show(terminal: Terminal, question: &'a Question, approvals: Option<&'a Approvals>) -> Self {
        let what = match question.subject {
            Subject::Call => "",
            Subject::Repeat => " once more",
            Subject::Resource { .. } => " to continue",
        };
        terminal.say(&format!("Allow {}{what}? [y/s/a/n/more] ", question.tool));
        Self { terminal, approvals, question: &question.id, stands: Stands::Open }
    }

    /// Records that a line was typed, or that the input ended.
    pub(crate) fn answered(mut self, line: Option<&str>) {
        let whole = line.is_some_and(|line| line.ends_with('\n'));
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
