//! The approver at the terminal. Answers when the policy decides `ask`, unless an answer from elsewhere comes first.

use crate::answer::{NO_SUCH_CALLS, Offered, Ruling, WHICH_CALLS, ruling};
use crate::progress::StatusLine;
use crate::prompt::{Prompt, PromptInput};
use crate::question::{FILE_CHANGED, RememberedCovers, Sheet, Unseen, choices, laid_out};
use crate::terminal::Terminal;
use crate::tty::{Key, Tty};
use portcullis::approvals::Answering;
use portcullis::{Answer, Approvals, Approver, Cancellation, Host, Question};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Mutex;

/// The note of a denial because nothing more can be typed.
const CLOSED: &str = "the terminal was closed";

/// Maximum unclear lines or keys before the request is denied. A person who types this many is not answering it.
const UNCLEAR_MAX: u32 = 3;

/// Asks at the controlling terminal, one request at a time.
pub(crate) struct TerminalApprover {
    terminal: Terminal,
    status: Arc<StatusLine>,
    cancellation: Cancellation,
    /// Set once the host is open.
    standing: OnceLock<AnsweringHost>,
    turn: Mutex<()>,
}

/// The parts of the host that answering a request needs.
struct AnsweringHost {
    approvals: Approvals,
    /// How long a session approval and an always approval last.
    times: (Duration, Duration),
}

/// The result of prompting below one screen.
enum Said {
    Answer(Answer),
    More,
}

/// What a person has done so far about one request.
struct Conversation {
    sheet: Sheet,
    covers: RememberedCovers,
    /// How often the input was no answer.
    unclear: u32,
}

impl TerminalApprover {
    /// Creates an approver that asks until the call is cancelled.
    pub(crate) fn new(terminal: Terminal, status: &Arc<StatusLine>, cancellation: &Cancellation) -> Self {
        let (status, cancellation) = (Arc::clone(status), cancellation.clone());
        Self { terminal, status, cancellation, standing: OnceLock::new(), turn: Mutex::new(()) }
    }

    /// Sets the host whose requests it answers. Only the first call has an effect.
    pub(crate) fn stand_before(&self, host: &Host) {
        let rules = host.policy().approvals();
        let times = (rules.session_time, rules.always_time);
        // The host gets its approver when it opens, so the approver exists first.
        let _ = self.standing.set(AnsweringHost { approvals: host.approvals().clone(), times });
    }

    async fn ask(&self, question: &Question) -> Answer {
        // Held while the request is on the screen, so that the prompts of two calls do not mix.
        let _turn = self.turn.lock().await;
        // Nothing draws this line again while the call waits.
        self.status.clear();
        // `biased`: if an interruption and an answer are there at the same time, the call must not run.
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => no("the person interrupted the call"),
            answer = self.converse(question) => answer,
        }
    }

    async fn converse(&self, question: &Question) -> Answer {
        let Ok(tty) = Tty::open() else { return no("there is no terminal to ask at") };
        let covers = RememberedCovers::of(question);
        let mut conversation = Conversation { sheet: Sheet::Brief, covers, unclear: 0 };
        loop {
            let now = self.as_it_is_now(question).await;
            let shown = laid_out(&now, conversation.sheet, self.terminal);
            self.terminal.say(&shown.text);
            if conversation.sheet == Sheet::Details {
                let times = self.standing.get().map(|standing| standing.times);
                self.terminal.say(&choices(question, self.terminal.note_style(), times));
            }
            match self.hear(&tty, question, shown.unseen, &mut conversation).await {
                Said::Answer(answer @ (Answer::Yes | Answer::Session(_) | Answer::Always(_) | Answer::Part { .. })) => {
                    // An approval counts only for the change that was on the screen. A denial needs no such check.
                    if self.as_it_is_now(question).await.difference == now.difference {
                        return answer;
                    }
                    self.terminal.note(FILE_CHANGED);
                }
                Said::Answer(answer) => return answer,
                Said::More => conversation.sheet = Sheet::Details,
            }
        }
    }

    /// Returns the request with what its call would change now.
    async fn as_it_is_now(&self, question: &Question) -> Question {
        let open = match self.standing.get() {
            Some(standing) => standing.approvals.question(&question.id).await.ok().and_then(|open| open.question),
            None => None,
        };
        let difference = open.map_or_else(|| question.difference.clone(), |open| open.difference);
        Question { difference, ..question.clone() }
    }

    /// Prompts below one screen until there is an answer, or the user wants to see more.
    async fn hear(&self, tty: &Tty, question: &Question, unseen: Unseen, conversation: &mut Conversation) -> Said {
        loop {
            // What was typed before the prompt cannot be an answer to it.
            if tty.forget_typed().is_err() {
                return Said::Answer(no(CLOSED));
            }
            let Ok(typed) = self.typed(tty, question, conversation.covers).await else {
                return Said::Answer(no(CLOSED));
            };
            match ruling(typed.as_deref(), Offered::of(question), unseen, conversation.covers) {
                Ruling::Answer(answer) => return Said::Answer(answer),
                Ruling::More => return Said::More,
                Ruling::Choose(covers) => {
                    conversation.covers = RememberedCovers::chosen(covers);
                    continue;
                }
                // `typed` asks for the numbers below the key. A typed line `p` comes here without any.
                Ruling::Select => self.terminal.note(NO_SUCH_CALLS),
                Ruling::Again(why) => self.terminal.note(why),
            }
            conversation.unclear += 1;
            if conversation.unclear >= UNCLEAR_MAX {
                return Said::Answer(no("the person gave no clear answer"));
            }
        }
    }

    /// Shows the keys and returns what was typed: a line, or what a line with the pressed key would be. `None` is the
    /// end of input.
    async fn typed(&self, tty: &Tty, question: &Question, covers: RememberedCovers) -> io::Result<Option<String>> {
        let approvals = self.standing.get().map(|standing| &standing.approvals);
        let show = |input| Prompt::show(self.terminal, question, approvals, (covers, input));
        // A terminal that cannot deliver single keys gets a prompt for a line.
        let mode = if self.terminal.can_rewrite() { tty.keys().ok() } else { None };
        let Some(mode) = mode else {
            let prompt = show(PromptInput::Line);
            let line = tty.line().await?;
            prompt.answered(line.as_deref());
            return Ok(line);
        };
        let prompt = show(PromptInput::Key);
        let key = mode.key().await?;
        let shown = match key {
            Key::Character(character) => character.to_string(),
            Key::End | Key::Other => String::new(),
        };
        self.terminal.say(&shown);
        prompt.answered(Some(&shown));
        match key {
            Key::End => Ok(None),
            Key::Character('p' | 'P') if question.selectable_calls().is_some() => {
                // A line is typed with the echo and the editing of the terminal, which the guard restores.
                drop(mode);
                self.selection(tty).await.map(|numbers| Some(format!("y {numbers}")))
            }
            Key::Character('n' | 'N') => {
                drop(mode);
                self.reason(tty).await.map(|reason| Some(format!("n {reason}")))
            }
            Key::Character(_) | Key::Other => Ok(Some(shown)),
        }
    }

    /// Asks for the numbers of the calls that are approved.
    async fn selection(&self, tty: &Tty) -> io::Result<String> {
        let line = self.line(tty, WHICH_CALLS).await?;
        // Without numbers, this selects nothing, and not everything.
        Ok(line.filter(|line| !line.trim().is_empty()).unwrap_or_else(|| "none".to_owned()))
    }

    /// Asks why the call is denied. The end of input is no reason.
    async fn reason(&self, tty: &Tty) -> io::Result<String> {
        let line = self.line(tty, "Why? The model reads this; press Enter for no reason: ").await?;
        Ok(line.unwrap_or_default())
    }

    /// Reads a line below a prompt. The next output starts on a new line.
    async fn line(&self, tty: &Tty, prompt: &str) -> io::Result<Option<String>> {
        self.terminal.say(prompt);
        let line = tty.line().await?;
        if !line.as_deref().is_some_and(|line| line.ends_with('\n')) {
            self.terminal.say("\n");
        }
        Ok(line)
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
