//! The line on which a person answers. However it ends, the terminal's next line begins at its beginning.

use crate::style::Look;
use crate::terminal::Terminal;
use portcullis::approvals::{Status, Subject};
use portcullis::text::OneLine;
use portcullis::{Approvals, Question};

/// The question itself. Dropped without an answer, it ends its line and says why nobody needs to answer any more.
pub(crate) struct Prompt<'a> {
    terminal: Terminal,
    approvals: Option<&'a Approvals>,
    question: &'a str,
    stands: Stands,
}

/// How the line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Open,
    Answered,
    Ended,
}

impl<'a> Prompt<'a> {
    /// Asks. The tool is named again: on a small screen the top of the question has gone by.
    pub(crate) fn show(terminal: Terminal, question: &'a Question, approvals: Option<&'a Approvals>) -> Self {
        let what = match question.subject {
            Subject::Call => "",
            Subject::Repeat => " once more",
            Subject::Resource { .. } => " to go on with this",
        };
        terminal.say(&format!("Allow {}{what}? [y/s/a/n/more] ", question.tool));
        Self { terminal, approvals, question: &question.id, stands: Stands::Open }
    }

    /// A line was typed, or the input ended.
    pub(crate) fn answered(mut self, line: Option<&str>) {
        let whole = line.is_some_and(|line| line.ends_with('\n'));
        self.stands = if whole { Stands::Ended } else { Stands::Answered };
    }

    /// What became of the question without an answer from here.
    fn elsewhere(&self) -> Option<String> {
        let question = self.approvals?.question(self.question).ok()?;
        match question.status {
            Status::Approved | Status::Running | Status::Done => {
                Some("Approved elsewhere, with `portcullis approvals`.".to_owned())
            }
            Status::Rejected => {
                let note = question.note.map(|note| format!(": {}", OneLine(&note))).unwrap_or_default();
                Some(format!("Rejected elsewhere, with `portcullis approvals`{note}"))
            }
            Status::Expired => Some("No answer came in time.".to_owned()),
            Status::Pending | Status::Withdrawn | Status::Lost => None,
        }
    }
}

impl Drop for Prompt<'_> {
    fn drop(&mut self) {
        if self.stands != Stands::Ended {
            self.terminal.say("\n");
        }
        if self.stands == Stands::Open
            && let Some(text) = self.elsewhere()
        {
            self.terminal.note(self.terminal.note_style().paint(Look::Strong, text));
        }
    }
}
