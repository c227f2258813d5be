//! The conversation with the model: its turns, until it has answered or a budget ends.

use portcullis_sdk::prelude::*;

use crate::budget::{Exhausted, Spent};
use crate::message::{AnswerEnd, CallResult, Message, ModelAnswer, ModelRequest, ModelTool};
use crate::model::{Exchange, Model};
use crate::toolbox::Toolbox;
use crate::transcript::Transcript;

/// Unusable answers in a row that end a run. A model that has lost the format does not find it again.
const MALFORMED_MAX: u32 = 3;

/// Maximum length of all messages together, in bytes: about 100,000 tokens, which every current model accepts.
const CONVERSATION_BYTES_MAX: usize = 400_000;

/// What replaces an old result in a conversation that is too long.
const FORGOTTEN: &str =
    "[This result was removed, because the conversation is too long. Make the call again if you need it.]";

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunEnd {
    Finished,
    /// The model's last answer has its maximum length.
    Cut,
    /// The model refused to answer.
    Refused,
    Exhausted(Exhausted),
    /// The model gave no usable answer, for this reason.
    Unusable(String),
    /// The server of the model did not answer, for this reason.
    Broken(String),
    /// The conversation is longer than its maximum, also without its old results.
    TooLong,
}

/// A run that has ended, with the last text of the model.
pub(crate) struct Run {
    pub(crate) end: RunEnd,
    pub(crate) text: String,
    pub(crate) spent: Spent,
    pub(crate) transcript: Transcript,
    pub(crate) calls: usize,
}

/// Holds the conversation about a task.
pub(crate) fn run(task: &str, model: &Model<'_>, toolbox: &Toolbox) -> Result<Run, Failure> {
    let tools = toolbox.for_model();
    let mut talk = Talk {
        messages: Vec::new(),
        run: Run {
            end: RunEnd::Finished,
            text: String::new(),
            spent: Spent::begin(),
            transcript: Transcript::default(),
            calls: 0,
        },
        toolbox,
    };
    talk.say(Message::User(task.to_owned()));
    let mut malformed = 0;
    loop {
        model.context.check_cancelled()?;
        if let Some(exhausted) = model.budget.exhausted(&talk.run.spent) {
            return Ok(talk.ended(RunEnd::Exhausted(exhausted)));
        }
        if !talk.shorten() {
            return Ok(talk.ended(RunEnd::TooLong));
        }
        model.context.progress(Progress::title(format!("Turn {}", talk.run.spent.turns + 1)));
        let exchange = match talk.ask(model, &tools) {
            Ok(exchange) => exchange,
            Err(Failure::Cancelled) => return Err(Failure::Cancelled),
            Err(failure) => return talk.broken(failure, model),
        };
        match exchange {
            Exchange::Malformed(why) => {
                malformed += 1;
                talk.run.transcript.add_malformed(&why.0);
                if malformed == MALFORMED_MAX {
                    return talk.unusable(why.0);
                }
                // The answer itself is not kept: no format can write back what it could not read.
                talk.say(Message::User(format!("Your last answer could not be used: {}. Answer again.", why.0)));
            }
            Exchange::Answered(answer) => {
                malformed = 0;
                if let Some(end) = talk.answered(answer, model) {
                    return Ok(talk.ended(end));
                }
            }
        }
    }
}

struct Talk<'a> {
    messages: Vec<Message>,
    run: Run,
    toolbox: &'a Toolbox,
}

impl Talk<'_> {
    fn say(&mut self, message: Message) {
        self.run.transcript.add(&message, self.toolbox);
        self.messages.push(message);
    }

    fn ended(mut self, end: RunEnd) -> Run {
        self.run.end = end;
        self.run
    }

    /// Ends a run whose server failed. Only a run without calls fails with it: the effects of calls remain, and the
    /// caller must learn of them.
    fn broken(self, failure: Failure, model: &Model<'_>) -> Result<Run, Failure> {
        if model.budget.time_left(&self.run.spent).is_zero() {
            return Ok(self.ended(RunEnd::Exhausted(Exhausted::Time)));
        }
        if self.run.calls == 0 { Err(failure) } else { Ok(self.ended(RunEnd::Broken(failure.text().to_owned()))) }
    }

    /// Ends a run whose model answers nothing usable, in the same way.
    fn unusable(self, why: String) -> Result<Run, Failure> {
        if self.run.calls == 0 {
            return Err(Failure::failed(format!("the model gave no usable answer {MALFORMED_MAX} times: {why}")));
        }
        Ok(self.ended(RunEnd::Unusable(why)))
    }

    fn ask(&mut self, model: &Model<'_>, tools: &[ModelTool]) -> Result<Exchange, Failure> {
        let settings = model.settings;
        let request = ModelRequest {
            model: &settings.model,
            system: &settings.system,
            messages: &self.messages,
            tools,
            tokens_max: settings.answer_tokens.min(model.budget.tokens_left(&self.run.spent)).max(1),
        };
        model.ask(&request, &mut self.run.spent)
    }

    /// Takes an answer, and makes its calls. Returns how the run ends, if it does.
    fn answered(&mut self, answer: ModelAnswer, model: &Model<'_>) -> Option<RunEnd> {
        let ModelAnswer { text, calls, end, .. } = answer;
        if !text.trim().is_empty() {
            self.run.text.clone_from(&text);
        }
        self.say(Message::Assistant { text, calls: calls.clone() });
        match end {
            AnswerEnd::Refused => return Some(RunEnd::Refused),
            // The last call may lack a part of its arguments, so none is made.
            AnswerEnd::Cut => return Some(RunEnd::Cut),
            AnswerEnd::Whole if calls.is_empty() => return Some(RunEnd::Finished),
            AnswerEnd::Whole => {}
        }
        // The calls of the last turn are still made, because they need no further request to the model.
        if let Some(exhausted) = model.budget.exhausted(&self.run.spent).filter(|it| *it != Exhausted::Turns) {
            return Some(RunEnd::Exhausted(exhausted));
        }
        let named = calls.iter().map(|call| self.toolbox.full_name(&call.name).unwrap_or("an unknown tool"));
        let named = named.take(3).collect::<Vec<_>>().join(", ");
        model.context.progress(Progress::title(format!("Turn {}: {named}", self.run.spent.turns)));
        self.run.calls += calls.len();
        let results = self.toolbox.call(&calls);
        self.say(Message::Results(results));
        None
    }

    /// Replaces the oldest results while the conversation is too long. The newest ones stay. Returns whether it is
    /// short enough then.
    fn shorten(&mut self) -> bool {
        let mut bytes: usize = self.messages.iter().map(length).sum();
        // The last message has the results that the model has not seen yet.
        let last = self.messages.len().saturating_sub(1);
        for message in self.messages.iter_mut().take(last) {
            let Message::Results(results) = message else { continue };
            for result in results {
                if bytes <= CONVERSATION_BYTES_MAX {
                    return true;
                }
                bytes = bytes.saturating_sub(result.text.len().saturating_sub(FORGOTTEN.len()));
                forget(result);
            }
        }
        bytes <= CONVERSATION_BYTES_MAX
    }
}

fn forget(result: &mut CallResult) {
    if result.text.len() > FORGOTTEN.len() {
        FORGOTTEN.clone_into(&mut result.text);
    }
}

fn length(message: &Message) -> usize {
    match message {
        Message::User(text) => text.len(),
        Message::Assistant { text, calls } => {
            let arguments = |arguments: &Result<portcullis_sdk::serde_json::Value, String>| match arguments {
                Ok(value) => value.to_string().len(),
                Err(text) => text.len(),
            };
            text.len() + calls.iter().map(|call| call.name.len() + arguments(&call.arguments)).sum::<usize>()
        }
        Message::Results(results) => results.iter().map(|result| result.text.len()).sum(),
    }
}
