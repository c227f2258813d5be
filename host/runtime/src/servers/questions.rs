//! The questions that a server asks its user during a call (elicitation). An approver can only say yes or no, so a
//! question gets an answer only if its form says what yes means.

use super::deadline::CallDeadline;
use portcullis_upstream::{
    ElicitationForm, ElicitationReply, ElicitationRequest, ReplyFuture, ServerReply, ServerRequest, ServerRequests,
};
use serde_json::{Map, Value};
use std::pin::Pin;
use std::sync::Arc;

/// Maximum fields of a form that an approver answers. All of them are shown.
const FIELDS_MAX: usize = 16;

/// Asks a person on behalf of a server, during one call.
pub(crate) trait AskUser: Send + Sync + 'static {
    /// Asks whether this may be done. Returns whether the person said yes.
    fn ask(&self, what: String) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;

    /// Records a question that no person was asked, with the reason.
    fn decline(&self, what: String, why: &'static str) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Replies to the questions of a server during one call. The time of the call stands still meanwhile.
pub(super) struct CallQuestions {
    pub(super) user: Arc<dyn AskUser>,
    pub(super) deadline: Arc<CallDeadline>,
}

impl ServerRequests for CallQuestions {
    fn reply(&self, request: ServerRequest) -> ReplyFuture<'_> {
        Box::pin(async move {
            match request {
                ServerRequest::Elicitation(asked) => ServerReply::Elicited(self.elicited(asked).await),
                // The host has told the server that it replies to nothing else.
                _ => ServerReply::Refused,
            }
        })
    }
}

impl CallQuestions {
    async fn elicited(&self, asked: ElicitationRequest) -> ElicitationReply {
        // In JSON, so that no text of the server can look like the host's own words.
        let question = Value::from(asked.message);
        let (what, answer) = match asked.form {
            ElicitationForm::Url(url) => {
                (format!("tell the server that you open {}, which asks: {question}", Value::from(url)), Value::Null)
            }
            ElicitationForm::Fields(schema) => match agreement(&schema) {
                Some(answer) => (format!("answer the server, which asks {question}, with {answer}"), answer),
                None => {
                    let what = format!("answer the server, which asks {question}");
                    self.user.decline(what, "its form needs more than a yes").await;
                    return ElicitationReply::Declined;
                }
            },
        };
        let _pause = self.deadline.pause();
        match self.user.ask(what).await {
            true => ElicitationReply::Accepted(answer),
            false => ElicitationReply::Declined,
        }
    }
}

/// Returns what a yes means in a form: each field with its default or its only value, and each required choice between
/// yes and no with yes. `None` if a required field needs something else.
fn agreement(schema: &Value) -> Option<Value> {
    let none = Map::new();
    let fields = match schema.get("properties") {
        Some(properties) => properties.as_object()?,
        None => &none,
    };
    if fields.len() > FIELDS_MAX {
        return None;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut answer = Map::new();
    for (name, field) in fields {
        let only = field.get("enum").and_then(Value::as_array).filter(|values| values.len() == 1);
        let known = field.get("default").or(field.get("const")).or(only.and_then(|values| values.first()));
        match known {
            Some(value) => drop(answer.insert(name.clone(), value.clone())),
            None if !required.contains(&name.as_str()) => {}
            None if field.get("type").is_some_and(|kind| kind == "boolean") => {
                answer.insert(name.clone(), Value::Bool(true));
            }
            None => return None,
        }
    }
    let is_whole = required.iter().all(|name| answer.contains_key(*name));
    is_whole.then_some(Value::Object(answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_yes_has_a_meaning_only_if_the_form_says_it() {
        for (schema, expected) in [
            (json!({ "properties": {}, "required": [] }), Some(json!({}))),
            (
                json!({ "properties": { "sure": { "type": "boolean" } }, "required": ["sure"] }),
                Some(json!({ "sure": true })),
            ),
            (json!({ "properties": { "sure": { "type": "boolean" } }, "required": [] }), Some(json!({}))),
            (
                json!({ "properties": { "n": { "type": "number", "default": 3 } }, "required": ["n"] }),
                Some(json!({ "n": 3 })),
            ),
            (
                json!({ "properties": { "c": { "type": "string", "enum": ["a"] } }, "required": ["c"] }),
                Some(json!({ "c": "a" })),
            ),
            (json!({ "properties": { "c": { "type": "string", "enum": ["a", "b"] } }, "required": ["c"] }), None),
            (json!({ "properties": { "name": { "type": "string" } }, "required": ["name"] }), None),
            (json!({ "properties": {}, "required": ["missing"] }), None),
            (json!({ "properties": [], "required": [] }), None),
        ] {
            assert_eq!(agreement(&schema), expected, "{schema}");
        }
        let many: Map<String, Value> = (0..=FIELDS_MAX).map(|at| (format!("f{at}"), json!({}))).collect();
        assert_eq!(agreement(&json!({ "properties": many, "required": [] })), None);
    }
}
