//! The person at the terminal. A line that they type answers the question that is open, and otherwise it says what they
//! want instead: calls that have not started are not made, and the line is the next that the model reads.

use crate::question::{Ruling, Sheet, is_short_answer, ruling, shown};
use crate::screen;
use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Question, Steering};
use std::io::{self, BufRead, IsTerminal, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The longest line that is taken, in bytes: what is longer comes as several.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// How much may wait to be told to the model, in bytes.
const WRITTEN_BYTES_MAX: usize = 64 * 1024;

/// A person, or an empty chair.
#[derive(Default)]
pub(crate) struct Person {
    desk: Mutex<Desk>,
    /// One question at a time.
    turn: tokio::sync::Mutex<()>,
}

/// What lies before the person.
#[derive(Default)]
struct Desk {
    here: bool,
    /// Who waits for an answer.
    question: Option<Sender<Option<String>>>,
    /// What goes out of date with the next line.
    steering: Steering,
    /// What they wrote and the model has not read.
    written: String,
}

impl Person {
    /// Looks whether somebody is at a terminal, to type and to read; if so, hears them from now on.
    pub(crate) fn look() -> Arc<Self> {
        let person = Arc::new(Self::default());
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            person.desk().here = true;
            let ears = Arc::clone(&person);
            // A thread, which waits in the terminal as long as the program runs. It ends with it.
            std::thread::spawn(move || ears.listen());
        }
        person
    }

    /// Whether somebody is there.
    pub(crate) fn is_here(&self) -> bool {
        self.desk().here
    }

    /// What the model is asked from now on goes out of date when the person writes something.
    pub(crate) fn steering(&self) -> Steering {
        let steering = Steering::new();
        self.desk().steering = steering.clone();
        steering
    }

    /// What the person has written since this was asked.
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

    /// A line; none is the end of input.
    fn hear(&self, line: Option<String>) {
        let mut desk = self.desk();
        desk.here = line.is_some();
        let unheard = match desk.question.take() {
            // Somebody waits for just one line, so there is room, unless they have gone.
            Some(question) => question.try_send(line).err().and_then(TrySendError::into_inner),
            None => line,
        };
        match unheard {
            Some(line) if is_short_answer(&line) => screen::note("Nothing is asked at the moment."),
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
                    // The host hears of it first: the call is out of date, and was not refused.
                    tokio::task::yield_now().await;
                    return no("the person wants something else");
                }
            }
        }
    }

    /// Shows the prompt, and has the next line be its answer. A line that came before was about something else.
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
            screen::note("That is too much at once: it was not kept.");
            return;
        }
        if !self.written.is_empty() {
            self.written.push('\n');
        }
        self.written.push_str(line);
        self.steering.steer(line);
        screen::note("The model reads that next.");
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin(self.ask(question))
    }
}

/// A prompt that waits for its line. When it is dropped before, it was answered elsewhere or is out of date.
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
            screen::note("\nThat was answered elsewhere, or is not asked any more.");
        }
    }
}

fn no(note: &str) -> Answer {
    Answer::No { note: Some(note.to_owned()) }
}
