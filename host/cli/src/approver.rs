//! The person at the terminal, who answers when the policy says ask.

use crate::progress::StatusLine;
use crate::question::{Extent, shown};
use crate::terminal::Terminal;
use crate::tty::Tty;
use portcullis::{Answer, Answering, Approver, Cancellation, Question, Subject};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Asks at the controlling terminal, one question at a time.
pub(crate) struct TerminalApprover {
    terminal: Terminal,
    status: Arc<StatusLine>,
    cancellation: Cancellation,
    turn: Mutex<()>,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Yes,
    More,
    No,
}

impl Word {
    /// Only a plain yes is one.
    fn of(line: Option<&str>) -> Self {
        match line.map(|line| line.trim().to_ascii_lowercase()).as_deref() {
            Some("y" | "yes") => Self::Yes,
            Some("more") => Self::More,
            Some(_) | None => Self::No,
        }
    }
}

impl TerminalApprover {
    /// Asks here, until the call is cancelled.
    pub(crate) fn new(terminal: Terminal, status: &Arc<StatusLine>, cancellation: &Cancellation) -> Self {
        let (status, cancellation) = (Arc::clone(status), cancellation.clone());
        Self { terminal, status, cancellation, turn: Mutex::new(()) }
    }

    async fn ask(&self, question: &Question) -> Answer {
        let _turn = self.turn.lock().await;
        self.status.clear();
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => no("the person interrupted the call"),
            answer = self.converse(question) => answer,
        }
    }

    async fn converse(&self, question: &Question) -> Answer {
        let Ok(tty) = Tty::open() else { return no("nobody is there to approve it") };
        let mut extent = Extent::Screen;
        loop {
            let style = self.terminal.note_style();
            self.terminal.say(&shown(question, extent, style, self.terminal.note_width()));
            if tty.forget_typed().is_err() {
                return no("the terminal went away");
            }
            let prompt = Prompt::show(self.terminal, question);
            let Ok(line) = tty.line().await else { return no("the terminal went away") };
            prompt.answered(line.as_deref());
            match Word::of(line.as_deref()) {
                Word::Yes => return Answer::Yes,
                Word::No => return no("the person said no"),
                Word::More => extent = Extent::Whole,
            }
        }
    }
}

impl Approver for TerminalApprover {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(self.ask(question))
    }
}

fn no(note: &str) -> Answer {
    Answer::No { note: Some(note.to_owned()) }
}

/// The question itself. Dropped without an answer, as when time runs out, it ends its line.
struct Prompt {
    terminal: Terminal,
    ended: bool,
}

impl Prompt {
    fn show(terminal: Terminal, question: &Question) -> Self {
        terminal.say(match question.subject {
            Subject::Call => "Allow this call once? [y/N] ",
            Subject::Resource { .. } => "Allow this once? [y/N] ",
        });
        Self { terminal, ended: false }
    }

    fn answered(mut self, line: Option<&str>) {
        self.ended = line.is_some_and(|line| line.ends_with('\n'));
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        if !self.ended {
            self.terminal.say("\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_one() {
        for line in ["y\n", "Y\n", "yes\n", " YES \n"] {
            assert_eq!(Word::of(Some(line)), Word::Yes, "{line:?}");
        }
        for line in [Some(""), Some("\n"), Some("n\n"), Some("yy\n"), Some("y n\n"), Some("yes!\n"), Some("ｙ\n"), None]
        {
            assert_eq!(Word::of(line), Word::No, "{line:?}");
        }
        assert_eq!(Word::of(Some("more\n")), Word::More);
    }
}
