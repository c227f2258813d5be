//! The approver at the terminal. Answers when the policy decides `ask`, unless an answer from elsewhere comes first.

use crate::answer::{Ruling, Unseen, ruling};
use crate::progress::StatusLine;
use crate::prompt::Prompt;
use crate::question::{Extent, FILE_CHANGED, laid_out, legend};
use crate::terminal::Terminal;
use crate::tty::Tty;
use portcullis::approvals::Answering;
use portcullis::{Answer, Approvals, Approver, Cancellation, Host, Question};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Mutex;

/// Maximum unclear lines before the request is denied. A person who types this many is not answering the request.
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
        let _ = self.standing.set(AnsweringHost { approvals: host.approvals().clone(), times });
    }

    async fn ask(&self, question: &Question) -> Answer {
        // Held while the request is on the screen, so that the prompts of two calls do not mix.
        let _turn = self.turn.lock().await;
        self.status.clear();
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => no("the person interrupted the call"),
            answer = self.converse(question) => answer,
        }
    }

    async fn converse(&self, question: &Question) -> Answer {
        let Ok(tty) = Tty::open() else { return no("there is no terminal to ask at") };
        let (style, times) = (self.terminal.note_style(), self.standing.get().map(|standing| standing.times));
        let (mut extent, mut unclear) = (Extent::Screen, 0);
        loop {
            let now = self.as_it_is_now(question).await;
            let shown = laid_out(&now, extent, self.terminal);
            self.terminal.say(&shown.text);
            self.terminal.say(&legend(question, style, times));
            match self.hear(&tty, question, shown.unseen, &mut unclear).await {
                Said::Answer(answer @ (Answer::Yes | Answer::Session(_) | Answer::Always(_))) => {
                    if self.as_it_is_now(question).await.difference == now.difference {
                        return answer;
                    }
                    self.terminal.note(FILE_CHANGED);
                }
                Said::Answer(answer) => return answer,
                Said::More => extent = Extent::Whole,
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
    async fn hear(&self, tty: &Tty, question: &Question, unseen: Unseen, unclear: &mut u32) -> Said {
        loop {
            if tty.forget_typed().is_err() {
                return Said::Answer(no("the terminal was closed"));
            }
            let approvals = self.standing.get().map(|standing| &standing.approvals);
            let prompt = Prompt::show(self.terminal, question, approvals);
            let Ok(line) = tty.line().await else { return Said::Answer(no("the terminal was closed")) };
            prompt.answered(line.as_deref());
            match ruling(line.as_deref(), question.offers.len(), unseen) {
                Ruling::Answer(answer) => return Said::Answer(answer),
                Ruling::More => return Said::More,
                Ruling::Again(why) => self.terminal.note(why),
            }
            *unclear += 1;
            if *unclear >= UNCLEAR_MAX {
                return Said::Answer(no("the person gave no clear answer"));
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
