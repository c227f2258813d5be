//! Reads a user's answer from a client's response, and records it in the ledger.

use super::form::{ALWAYS, CALLS, COVERS, NOTE, NOTE_CHARACTERS_MAX, ONCE, REMEMBER, SESSION, coverages};
use crate::server::Server;
use portcullis::approvals::{ApprovalError, CallSelection};
use portcullis::policy::Principal;
use portcullis::text::WithCauses;
use portcullis::{Answer, Covers, Question};
use rmcp::ErrorData;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

/// Returns the answer in the result of an elicitation. Content that does not fit the form denies. Fields that are not
/// part of the form are ignored.
pub(super) fn of(result: &ElicitResult, question: &Question) -> Answer {
    match &result.action {
        ElicitationAction::Accept => {
            accepted(result.content.as_ref(), question).unwrap_or_else(|| no(Some(UNFIT.to_owned())))
        }
        ElicitationAction::Decline => no(result.content.as_ref().and_then(Value::as_object).and_then(|content| {
            let note = content.get(NOTE)?.as_str()?;
            (!note.is_empty()).then(|| note.to_owned())
        })),
        // Closing the form does not approve. Neither does an action that this version does not know.
        _ => no(None),
    }
}

/// The note of a denial, if the client's answer does not fit the form.
const UNFIT: &str = "the client's answer did not match the form";

/// The note of a denial, if the file changed after the form was shown, so that the approval does not count.
const FILE_CHANGED: &str = "the file has changed since the user was asked; make the same call again";

fn no(note: Option<String>) -> Answer {
    Answer::No { note }
}

/// Returns the approval in an accepted form, or `None` if its fields do not fit the form.
fn accepted(content: Option<&Value>, question: &Question) -> Option<Answer> {
    let nothing = Map::new();
    let content = match content {
        None | Some(Value::Null) => &nothing,
        Some(Value::Object(content)) => content,
        Some(_) => return None,
    };
    let note = field(content, NOTE)?;
    if note.is_some_and(|note| note.chars().count() > NOTE_CHARACTERS_MAX) {
        return None;
    }
    if let (Some(count), Some(numbers)) = (question.selectable_calls(), field(content, CALLS)?)
        && !numbers.trim().is_empty()
    {
        let calls = CallSelection::parse(numbers, count).ok()?;
        return Some(Answer::Part { calls, note: note.filter(|note| !note.is_empty()).map(str::to_owned) });
    }
    let covers = match field(content, COVERS)? {
        None => Covers::Exact,
        Some(chosen) => {
            coverages(question).into_iter().find_map(|(text, covers)| (text == chosen).then_some(covers))?
        }
    };
    match field(content, REMEMBER)? {
        None | Some(ONCE) => Some(Answer::Yes),
        Some(SESSION) => Some(Answer::Session(covers)),
        Some(ALWAYS) => Some(Answer::Always(covers)),
        Some(_) => None,
    }
}

/// Returns the text of a form field: `Some(None)` if it is empty, `None` if it is not a string.
fn field<'a>(content: &'a Map<String, Value>, name: &str) -> Option<Option<&'a str>> {
    match content.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    }
}

/// Parses a client's response to the form, or returns `None` if it is not an elicitation result.
pub(crate) fn read(response: &Value, question: &Question) -> Option<Answer> {
    let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
    Some(of(&result, question))
}

/// Records the answer to an approval request, on behalf of the principal whose call it is. An answer has no effect if
/// another channel was first, or if the request has expired.
///
/// # Errors
/// The ledger cannot record the answer.
pub(crate) async fn give(
    server: &Server,
    principal: &Principal,
    question: &Question,
    answer: Answer,
) -> Result<(), ErrorData> {
    let approvals = server.inner().host.approvals().within(principal);
    let given = async {
        let is_yes = match &answer {
            Answer::Yes | Answer::Session(_) | Answer::Always(_) | Answer::Part { .. } => true,
            Answer::No { .. } => false,
        };
        // Only an approval depends on what was shown. A denial counts even if the file has changed.
        let now = approvals.question(&question.id).await?.question;
        let outdated = is_yes && now.is_some_and(|now| now.difference != question.difference);
        let answer = if outdated { no(Some(FILE_CHANGED.to_owned())) } else { answer };
        approvals.answer(&question.id, &answer).await
    };
    match given.await {
        Ok(_) | Err(ApprovalError::Settled(_) | ApprovalError::Expired | ApprovalError::Gone) => Ok(()),
        Err(error) => {
            let why = format!("the answer was not recorded: {}", WithCauses(&error));
            Err(ErrorData::internal_error(why, None))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Returns an approval request that offers two patterns, and one that is too long for a form.
    pub(in crate::approval) fn question() -> Question {
        Question {
            id: "d".repeat(32),
            call: "c".repeat(32),
            session: "default".to_owned(),
            principal: "local".to_owned(),
            origin: "person".to_owned(),
            agent: None,
            called_by: Vec::new(),
            targets: Default::default(),
            tool: "web.fetch".parse().unwrap(),
            plugin_sha256: "ab".repeat(32),
            permissions: portcullis::policy::Permissions::NONE,
            arguments: "{}".to_owned(),
            handles: Vec::new(),
            subject: portcullis::approvals::Subject::Call,
            reason: "a person looks".to_owned(),
            changed: None,
            difference: None,
            offers: vec!["x".repeat(4000), PATH.to_owned(), HOST.to_owned(), HOST.to_owned()],
        }
    }

    const PATH: &str = "url = https://a.test:443/b with any query";
    const HOST: &str = "url = every path of https://a.test:443";

    fn answer(result: &Value) -> Answer {
        read(result, &question()).unwrap()
    }

    #[test]
    fn an_accepted_form_approves_for_the_chosen_duration() {
        for content in [json!({}), json!({"remember": "once"}), json!({"remember": null}), json!({"name": "Alice"})] {
            assert_eq!(answer(&json!({"action": "accept", "content": content})), Answer::Yes);
        }
        assert_eq!(answer(&json!({"action": "accept"})), Answer::Yes);
        let session = json!({"action": "accept", "content": {"remember": "session", "note": "go on", "more": [1]}});
        assert_eq!(answer(&session), Answer::Session(Covers::Exact));
        let always = json!({"action": "accept", "content": {"remember": "always"}});
        assert_eq!(answer(&always), Answer::Always(Covers::Exact));
    }

    #[test]
    fn a_remembered_approval_covers_only_an_offer_that_the_form_showed() {
        let covers = |text: &str, remember: &str| {
            answer(&json!({"action": "accept", "content": {"remember": remember, "covers": text}}))
        };
        assert_eq!(covers("exactly these arguments", "always"), Answer::Always(Covers::Exact));
        assert_eq!(covers(PATH, "session"), Answer::Session(Covers::Offer(1)));
        assert_eq!(covers(HOST, "always"), Answer::Always(Covers::Offer(2)));
        assert_eq!(covers(HOST, "once"), Answer::Yes);
        let long = question().offers[0].clone();
        for text in ["", "2", "every path", &long, &HOST.to_uppercase()] {
            assert_eq!(covers(text, "session"), Answer::No { note: Some(UNFIT.to_owned()) }, "{text}");
        }
    }

    #[test]
    fn content_that_does_not_fit_the_form_denies() {
        let contents = [
            json!("yes"),
            json!([]),
            json!(true),
            json!({"remember": "forever"}),
            json!({"remember": ["always"]}),
            json!({"remember": true}),
            json!({"remember": "session", "covers": 2}),
            json!({"remember": "session", "covers": [HOST]}),
            json!({"note": 7}),
            json!({"note": "x".repeat(NOTE_CHARACTERS_MAX + 1)}),
        ];
        for content in contents {
            let answer = answer(&json!({"action": "accept", "content": content}));
            assert_eq!(answer, Answer::No { note: Some(UNFIT.to_owned()) }, "{content}");
        }
    }

    #[test]
    fn a_declined_form_denies_with_its_note_and_a_closed_one_without() {
        let declined = json!({"action": "decline", "content": {"note": "not on a Sunday"}});
        assert_eq!(answer(&declined), Answer::No { note: Some("not on a Sunday".to_owned()) });
        assert_eq!(answer(&json!({"action": "decline", "content": 3})), Answer::No { note: None });
        let cancelled = json!({"action": "cancel", "content": {"remember": "always"}});
        assert_eq!(answer(&cancelled), Answer::No { note: None });
    }

    #[test]
    fn a_response_that_is_no_elicitation_result_is_no_answer() {
        for response in [json!(12345), json!(null), json!({}), json!({"action": "yes"}), json!({"action": true})] {
            assert!(read(&response, &question()).is_none(), "{response}");
        }
    }
}
