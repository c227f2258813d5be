//! The person at the terminal. A line that they type answers the open approval request, if any. Otherwise it says what
//! they want instead: calls that have not started are dropped, and the model reads the line next.

use crate::question::{Ruling, Sheet, is_short_answer, ruling, shown};
use crate::screen;
use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Question, Steering};
use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum length of a line in bytes. A longer one is split.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Maximum bytes of text that waits for the model.
const WRITTEN_BYTES_MAX: usize = 64 * 1024;

/// The person at the terminal, if there is one.
#[derive(Default)]
pub(crate) struct Person {
    desk: Mutex<Desk>,
    /// One question at a time.
    turn: tokio::sync::Mutex<()>,
}

/// The state of the person.
#[derive(Default)]
struct Desk {
    here: bool,
    /// The prompt that waits for an answer.
    question: Option<Sender<Option<String>>>,
    /// The steering that the next line triggers.
    steering: Steering,
    /// Text that the model has not read yet.
    written: String,
}

impl Person {
    /// Checks for a person at a terminal. If there is one, starts to read their input.
    pub(crate) fn look() -> Arc<Self> {
        let person = Arc::new(Self::default());
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            person.desk().here = true;
            let ears = Arc::clone(&person);
            // Reading a terminal blocks, so it needs a thread. It runs until the program ends.
            std::thread::spawn(move || ears.listen());
        }
        person
    }

    /// Returns whether there is a person at a terminal.
    pub(crate) fn is_here(&self) -> bool {
        self.desk().here
    }

    /// Returns a new steering, which the person's next message triggers.
    pub(crate) fn steering(&self) -> Steering {
        let steering = Steering::new();
        self.desk().steering = steering.clone();
        steering
    }

    /// Takes what the person has written since the last call.
    pub(crate) fn written(&self) -> Option<String> {
        let written = std::mem::take(&mut self.desk().written);
        (!written.is_empty()).then_some(written)
    }

    fn listen(&self) {
        let mut stdin = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = stdin.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            let line = match read {
                Ok(1..) => Some(String::from_utf8_lossy(&line).into_owned()),
                Ok(0) | Err(_) => None,
            };
            let ended = line.is_none();
            self.hear(line);
            if ended {
                return;
            }
        }
    }

    /// Handles a line; `None` is the end of input.
    fn hear(&self, line: Option<String>) {
        let mut desk = self.desk();
        desk.here = line.is_some();
        let unheard = match desk.question.take() {
            // The channel has room for the one line that the prompt waits for. It is closed if the prompt is gone.
            Some(question) => question.try_send(line).err().and_then(TrySendError::into_inner),
            None => line,
        };
        match unheard {
            Some(line) if is_short_answer(&line) => screen::note("There is nothing to approve at the moment."),
            Some(line) => desk.write(&line),
            None => {}
        }
    }

    async fn ask(&self, question: &Question) -> Answer {
        let _turn = self.turn.lock().await;
        let sheet = shown(question);
        screen::say(&sheet.text);
        loop {
            let Some(mut open) = self.open(&sheet) else { return no("there is no terminal to ask at") };
            let line = open.answer().await;
            match ruling(line.as_deref(), sheet.whole) {
                Ruling::Answer(answer) => return answer,
                Ruling::Again => {}
                Ruling::Instead(words) => {
                    self.desk().write(&words);
                    // Let the host process the steering first, so that it drops the call instead of refusing it.
                    tokio::task::yield_now().await;
                    return no("the person wants something else");
                }
            }
        }
    }

    /// Shows the prompt. The next line is its answer; earlier lines are not.
    fn open(&self, sheet: &Sheet) -> Option<Open<'_>> {
        let (sender, line) = channel(1);
        let mut desk = self.desk();
        if !desk.here {
            return None;
        }
        desk.question = Some(sender);
        screen::say(&sheet.prompt);
        drop(desk);
        Some(Open { person: self, line, answered: false })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    fn write(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if self.written.len() + line.len() > WRITTEN_BYTES_MAX {
            screen::note("That is too long and was ignored.");
            return;
        }
        if !self.written.is_empty() {
            self.written.push('\n');
        }
        self.written.push_str(line);
        self.steering.steer(line);
        screen::note("The model reads this next.");
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(self.ask(question))
    }
}

/// A prompt that waits for a line. Dropping it before that means that it was answered elsewhere, or is out of date.
struct Open<'a> {
    person: &'a Person,
    line: Receiver<Option<String>>,
    answered: bool,
}

impl Open<'_> {
    async fn answer(&mut self) -> Option<String> {
        let line = self.line.recv().await.flatten();
        self.answered = true;
        line
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.person.desk().question = None;
            screen::note("\nThis request was answered elsewhere, or is no longer open.");
        }
    }
}

fn no(note: &str) -> Answer {
    Answer::No { note: Some(note.to_owned()) }
}
