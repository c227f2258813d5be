//! One turn: from a message of the person to an answer of the model, with all calls in between.

use crate::conversation::{Conversation, TooLong};
use crate::endpoint::{Endpoint, EndpointError};
use crate::person::Person;
use crate::screen;
use crate::show;
use crate::tools;
use portcullis::plugins::NameCollision;
use portcullis::{Batch, Caller, Code, Host, Reply};
use portcullis_providers::{Format, HydrateError};
use serde_json::{Value, json};
use std::sync::Arc;

/// The format of the endpoint.
const FORMAT: Format = Format::OpenAiChat;

/// Maximum answers per turn. A model that needs more is probably in a loop.
const ANSWERS_MAX: usize = 50;

/// The tool with which a model says that it is done.
const DONE: &str = "done.done";

/// The parts of an agent.
pub(crate) struct Agent {
    pub(crate) host: Host,
    pub(crate) endpoint: Endpoint,
    /// The model's name.
    pub(crate) model: String,
    pub(crate) person: Arc<Person>,
    /// The base of every request: caller and session.
    pub(crate) caller: Caller,
    /// How many plugin tools the model sees.
    pub(crate) tools: usize,
}

/// How a turn ended.
pub(crate) enum Ended {
    /// The model gave a result.
    Result(String),
    /// The person has written something new.
    Written(String),
    /// The model did not finish.
    Endless,
}

/// Why a turn failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    #[error(transparent)]
    Names(#[from] NameCollision),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Answer(#[from] HydrateError),
    #[error("the answer is not a message in the format {FORMAT}")]
    NoMessage,
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

impl Agent {
    /// Continues a conversation until the model has answered the person's last message. The tools are picked for that
    /// message, and stay the same for the turn, even if plugins change in the meantime.
    ///
    /// # Errors
    /// The model cannot be reached, or its answer is invalid.
    pub(crate) async fn turn(&self, conversation: &mut Conversation, words: &str) -> Result<Ended, TurnError> {
        let definitions = tools::choose(&self.host, words, self.tools)?;
        let tools = definitions.export(FORMAT).tools;
        for _ in 0..ANSWERS_MAX {
            let steering = self.person.steering();
            if let Some(words) = self.person.written() {
                return Ok(Ended::Written(words));
            }
            let request = json!({ "model": self.model, "messages": conversation.messages(), "tools": tools });
            let answer = self.endpoint.complete(&request).await?;
            let calls = definitions.hydrate(FORMAT, &answer, &self.host)?;
            let message = message_of(&answer).ok_or(TurnError::NoMessage)?;
            let text = text_of(&message);
            if calls.calls.is_empty() {
                conversation.answered(message, Vec::new())?;
                // A message that the person wrote in the meantime has no answer yet.
                return Ok(self.person.written().map_or(Ended::Result(text), Ended::Written));
            }
            screen::quote(&text);
            show::calls(&calls);
            let events = self.host.events();
            let replies = tokio::select! {
                replies = self.host.batch(Batch::new(calls.requests(&self.caller)).steering(steering)) => replies,
                never = show::running(events) => match never {},
            };
            show::replies(&replies);
            conversation.answered(message, calls.results(&replies))?;
            if let Some(result) = replies.iter().find_map(result_of) {
                return Ok(Ended::Result(if result.is_empty() { text } else { result }));
            }
        }
        Ok(Ended::Endless)
    }
}

/// Returns the message in an answer unchanged, because the model gets it back in the next request.
fn message_of(answer: &str) -> Option<Value> {
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    let mut message = answer.pointer_mut("/choices/0/message").map(Value::take)?;
    // Set the role, so that an answer cannot pass for another one.
    message.as_object_mut()?.insert("role".to_owned(), json!("assistant"));
    Some(message)
}

/// Returns the text of a message, without its calls.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        content => content.as_str().unwrap_or_default().to_owned(),
    }
}

/// Returns the result, if this is a successful call of `done`.
fn result_of(reply: &Reply) -> Option<String> {
    (reply.code == Code::Completed && reply.tool == DONE).then(|| reply.message.clone())
}
