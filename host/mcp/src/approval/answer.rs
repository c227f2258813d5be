//! What a client says that its user answered, and giving that answer to the ledger.

use super::form::{ALWAYS, COVERS, NOTE, NOTE_CHARACTERS_MAX, ONCE, REMEMBER, SESSION, coverages};
use crate::server::Server;
use portcullis::approvals::ApprovalError;
use portcullis::policy::Principal;
use portcullis::{Answer, Covers, Question};
use rmcp::ErrorData;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

/// The answer of the form of a question. What does not fit the form is a no; what the form does not ask for is passed
/// over.
pub(super) fn of(result: &ElicitResult, question: &Question) -> Answer {
    match &result.action {
        ElicitationAction::Accept => {
            accepted(result.content.as_ref(), question).unwrap_or_else(|| no(Some(UNFIT.to_owned())))
        }
        ElicitationAction::Decline => no(result.content.as_ref().and_then(Value::as_object).and_then(|content| {
            let note = content.get(NOTE)?.as_str()?;
            (!note.is_empty()).then(|| note.to_owned())
        })),
        // Whoever only closes the form has not said yes; nor has a client that says something new.
        _ => no(None),
    }
}

/// What a client's answer is where it was none.
const UNFIT: &str = "the client's answer did not fit the question";

/// The note of an approval that does not count, because the file changed after the form was shown.
const FILE_CHANGED: &str = "the file has changed since the user was asked; make the call again";

fn no(note: Option<String>) -> Answer {
    Answer::No { note }
}

/// The yes of a form, where its fields are what the form asks for.
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

/// A text of the form, where it is filled in; nothing where it is no text.
fn field<'a>(content: &'a Map<String, Value>, name: &str) -> Option<Option<&'a str>> {
    match content.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    }
}

/// What a client sent as the answer to the form of a question, where it is one.
pub(crate) fn read(response: &Value, question: &Question) -> Option<Answer> {
    let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
    Some(of(&result, question))
}

/// Gives an answer to the question it was asked for, on behalf of the principal whose call asks. Where somebody else
/// was first, or its time is over, it has no effect.
///
/// # Errors
/// The answer cannot be kept.
pub(crate) async fn give(
    server: &Server,
    principal: &Principal,
    question: &Question,
    answer: Answer,
) -> Result<(), ErrorData> {
    let approvals = server.inner().host.approvals().within(principal);
    let (id, changed) = (question.id.clone(), no(Some(FILE_CHANGED.to_owned())));
    let shown = question.difference.clone();
    let given = tokio::task::spawn_blocking(move || {
        let is_yes = match &answer {
            Answer::Yes | Answer::Session(_) | Answer::Always(_) => true,
            Answer::No { .. } => false,
        };
        let now = approvals.question(&id)?.question;
        let outdated = is_yes && now.is_some_and(|now| now.difference != shown);
        approvals.answer(&id, if outdated { &changed } else { &answer })
    });
    let given = given.await;
    match given {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(ApprovalError::Settled(_) | ApprovalError::Expired | ApprovalError::Gone)) => Ok(()),
        Ok(Err(error)) => Err(ErrorData::internal_error(format!("the answer could not be kept: {error}"), None)),
        Err(_) => Err(ErrorData::internal_error("the answer could not be kept", None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A question that offers two patterns, and one that is too long for a form.
    fn question() -> Question {
        Question {
            id: "d".repeat(32),
            call: "c".repeat(32),
            session: "default".to_owned(),
            principal: "local".to_owned(),
            origin: "person".to_owned(),
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
    fn an_accepted_form_is_a_yes_for_as_long_as_it_says() {
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
    fn a_yes_for_longer_covers_what_the_form_says_and_no_offer_that_the_form_did_not_show() {
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
    fn what_does_not_fit_the_form_is_a_no() {
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
    fn a_declined_form_is_a_no_with_its_note_and_a_closed_one_without() {
        let declined = json!({"action": "decline", "content": {"note": "not on a Sunday"}});
        assert_eq!(answer(&declined), Answer::No { note: Some("not on a Sunday".to_owned()) });
        assert_eq!(answer(&json!({"action": "decline", "content": 3})), Answer::No { note: None });
        let cancelled = json!({"action": "cancel", "content": {"remember": "always"}});
        assert_eq!(answer(&cancelled), Answer::No { note: None });
    }

    #[test]
    fn what_is_no_answer_at_all_is_none() {
        for response in [json!(12345), json!(null), json!({}), json!({"action": "yes"}), json!({"action": true})] {
            assert!(read(&response, &question()).is_none(), "{response}");
        }
    }
}
