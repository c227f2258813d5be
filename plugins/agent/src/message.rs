//! A conversation with a model, in the form that all formats share.

use portcullis_sdk::serde_json::Value;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// A text for the model: the task, or a note about its last answer.
    User(String),
    Assistant {
        text: String,
        calls: Vec<ModelCall>,
    },
    /// The results of the calls of the message before.
    Results(Vec<CallResult>),
}

/// A call that the model makes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelCall {
    pub(crate) id: String,
    /// The name as the model knows it.
    pub(crate) name: String,
    /// The arguments, if they are an object. Otherwise what the model wrote.
    pub(crate) arguments: Result<Value, String>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallResult {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The text of a tool. Hostile: it is passed on as content of the result, and never read.
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
}

/// What the model is asked.
pub(crate) struct ModelRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    pub(crate) messages: &'a [Message],
    pub(crate) tools: &'a [ModelTool],
    /// Maximum tokens of the answer.
    pub(crate) tokens_max: u64,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelAnswer {
    pub(crate) text: String,
    pub(crate) calls: Vec<ModelCall>,
    pub(crate) end: AnswerEnd,
    /// The tokens that the server counted. `None` if it said nothing.
    pub(crate) usage: Option<Usage>,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerEnd {
    /// The model has said everything, or wants the results of its calls.
    Whole,
    /// The answer has its maximum length.
    Cut,
    /// The model or a filter refuses to answer.
    Refused,
}

/// Tokens of one or more exchanges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
}
