//! One turn: from words of the person to an answer of the model, with everything that it called in between.

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

/// The most answers of one turn: a model that needs more goes in circles.
const ANSWERS_MAX: usize = 50;

/// The tool by which a model says that it is done.
const DONE: &str = "done.done";

/// What an agent works with.
pub(crate) struct Agent {
    pub(crate) host: Host,
    pub(crate) endpoint: Endpoint,
    /// The model's name.
    pub(crate) model: String,
    pub(crate) person: Arc<Person>,
    /// Who asks, in which session.
    pub(crate) caller: Caller,
    /// How many tools of plugins the model is shown.
    pub(crate) tools: usize,
}

/// How a turn ended.
pub(crate) enum Ended {
    /// With a result, in the model's words.
    Result(String),
    /// The person has written something new.
    Written(String),
    /// The model has not come to an end.
    Endless,
}

/// Why a turn could not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    #[error(transparent)]
    Names(#[from] NameCollision),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Answer(#[from] HydrateError),
    #[error("the answer is no message of the format {FORMAT}")]
    NoMessage,
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

impl Agent {
    /// Goes on with a conversation until the model has answered what the person wrote last. The tools are chosen for
    /// those words, and stay the same until then, whatever becomes of the plugins meanwhile.
    ///
    /// # Errors
    /// The model cannot be asked, or its answer not be read.
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
                // What was written while the model answered is not answered yet.
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

/// The message in an answer as it came, since a model is sent its own words again.
fn message_of(answer: &str) -> Option<Value> {
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    let mut message = answer.pointer_mut("/choices/0/message").map(Value::take)?;
    // Whatever it says: these are the words of the model, and of nobody else.
    message.as_object_mut()?.insert("role".to_owned(), json!("assistant"));
    Some(message)
}

/// What the model says beside its calls.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        content => content.as_str().unwrap_or_default().to_owned(),
    }
}

/// The result, where the model has said that it is done, and the host let it.
fn result_of(reply: &Reply) -> Option<String> {
    (reply.code == Code::Completed && reply.tool == DONE).then(|| reply.message.clone())
}
