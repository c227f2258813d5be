//! Approvals for more than one call: the host offers a few patterns, the approver picks one, and it covers what it
//! says.

use crate::approvals::desk::{Desk, policy};
use crate::approvals::people::{Person, no};
use portcullis::{Answer, Code, Covers, Host, Question, Request};
use portcullis_tests::Manifest;
use serde_json::json;
use std::sync::Arc;

/// A tool whose schema writes a file.
const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},
    "create":{"type":"boolean"}},"required":["path"]}"#;

const ASK: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

fn desk() -> Desk {
    Desk::new().with(&Manifest::of("writer").tool(|tool| SCHEMA.clone_into(&mut tool.schema)))
}

fn write(path: &str, content: &str) -> Request {
    Request::new("writer.run", json!({ "path": path, "content": content }).to_string())
}

/// Returns the choice of the pattern with this label.
fn place(question: &Question, says: &str) -> Covers {
    let place = question.offers.iter().position(|offer| offer.contains(says));
    Covers::Offer(place.unwrap_or_else(|| panic!("{says} is not offered: {:?}", question.offers)))
}

/// Opens a host on which the approver picked the pattern with this label for a write of `src/lib/a`.
async fn picked(desk: &Desk, says: &str) -> (Host, Arc<Person>) {
    let person = Person::who_says(no());
    let host = desk.approved_by(&policy(ASK), &person).await;
    assert_eq!(host.call(write("src/lib/a", "one")).await.code, Code::ApprovalDenied);
    let asked = person.asked();
    person.says(Answer::Always(place(&asked[0], says)));
    assert_eq!(host.call(write("src/lib/a", "one")).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
    person.says(no());
    (host, person)
}

async fn is_covered(host: &Host, person: &Person, arguments: &str) -> bool {
    let reply = host.call(Request::new("writer.run", arguments).session(arguments)).await;
    let asked = person.asked().len();
    match reply.code {
        Code::Completed => assert_eq!(asked, 0, "{arguments}"),
        Code::ApprovalDenied => assert_eq!(asked, 1, "{arguments}"),
        code => panic!("{arguments}: {code}: {}", reply.message),
    }
    reply.code == Code::Completed
}

#[tokio::test]
async fn an_approval_for_a_directory_covers_exactly_its_content() {
    let desk = desk();
    let (host, person) = picked(&desk, "src/**").await;
    for inside in ["src/a", "src/lib/a", "src/lib/b/c/d", "src/.hidden", "src/ä", "src/a b"] {
        for content in ["", "two", "\u{0}"] {
            let arguments = json!({ "content": content, "path": inside }).to_string();
            assert!(is_covered(&host, &person, &arguments).await, "{arguments}");
        }
    }
    let outside = [
        "Cargo.toml",
        "src",
        "src/",
        "src2/a",
        "xsrc/a",
        "/src/a",
        "./src/a",
        "src/../x",
        "src/../src/a",
        "src/lib/../../x",
        "src//a",
        "src/./a",
        "../src/a",
        "SRC/a",
        "src\\a",
        "src/a\\..\\..\\x",
        "src/a\u{0}",
        "other/src/a",
        "src/a/..",
        "src%2f..%2fx",
        "~/src/a",
    ];
    for (number, outside) in outside.into_iter().enumerate() {
        let arguments = json!({ "content": "two", "path": outside }).to_string();
        let covered = is_covered(&host, &person, &arguments).await;
        // A percent sign is an ordinary character of a file name, so this name is outside the directory.
        assert!(!covered, "{number}: {arguments}");
    }
}

#[tokio::test]
async fn an_approval_for_a_directory_covers_no_new_argument() {
    let desk = desk();
    let (host, person) = picked(&desk, "src/**").await;
    let others = [
        json!({ "path": "src/a" }),
        json!({ "path": "src/a", "content": "two", "create": true }),
        json!({ "path": "src/a", "content": "two", "create": false }),
        json!({ "path": "src/a", "content": "two", "mode": null }),
        json!({ "path": "src/a", "content": "two", "Path": "src/a" }),
        json!({ "path": "src/a", "contents": "two" }),
    ];
    for other in others {
        assert!(!is_covered(&host, &person, &other.to_string()).await, "{other}");
    }
}

/// From narrow to wide: this file with any content, its directory, and the top-level directory.
#[tokio::test]
async fn a_narrower_pattern_covers_less() {
    let cases = [
        ("path = \"src/lib/a\"", [true, false, false, false]),
        ("src/lib/**", [true, true, false, false]),
        ("src/**", [true, true, true, false]),
    ];
    for (offer, covers) in cases {
        let desk = desk();
        let (host, person) = picked(&desk, offer).await;
        for (path, covered) in ["src/lib/a", "src/lib/b", "src/b", "b"].into_iter().zip(covers) {
            let arguments = json!({ "path": path, "content": "two" }).to_string();
            assert_eq!(is_covered(&host, &person, &arguments).await, covered, "{offer}: {path}");
        }
    }
}

/// A pattern's label is the host's own text. No text of the model can pass for it.
#[tokio::test]
async fn pattern_labels_are_one_line_each_for_any_arguments() {
    let desk = desk();
    let person = Person::who_says(no());
    let host = desk.approved_by(&policy(ASK), &person).await;
    for (number, path) in
        ["a\nb/c", "a\u{202e}b/c", "a\", any path, x = \"/c", "a/\u{1b}[2J", "a*/b?"].into_iter().enumerate()
    {
        let reply = host.call(write(path, "x").session(&number.to_string())).await;
        assert_eq!(reply.code, Code::ApprovalDenied);
        for offer in &person.asked()[0].offers {
            assert!(!offer.chars().any(|character| character.is_control()), "{offer:?}");
            assert!(!outside_of_quotes(offer).contains("any path"), "{offer:?}");
        }
    }
}

/// Returns the parts of a label outside quotes, which are the host's own words.
fn outside_of_quotes(offer: &str) -> String {
    let plain = offer.replace("\\\\", "").replace("\\\"", "");
    plain.split('"').step_by(2).collect()
}

/// Wildcards in a path are literal: the pattern covers the directory with that name.
#[tokio::test]
async fn a_name_that_looks_like_a_pattern_is_literal() {
    let desk = desk();
    let person = Person::who_says(no());
    let host = desk.approved_by(&policy(ASK), &person).await;
    assert_eq!(host.call(write("*/x", "x")).await.code, Code::ApprovalDenied);
    let asked = person.asked();
    let directory = asked[0].offers.iter().position(|offer| offer.contains("/**"));
    let Some(directory) = directory else { return };
    person.says(Answer::Always(Covers::Offer(directory)));
    assert_eq!(host.call(write("*/x", "x")).await.code, Code::Completed);
    person.asked();
    person.says(no());
    for (path, covered) in [("*/y", true), ("a/y", false), ("**/y", false), ("a/b/y", false)] {
        let arguments = json!({ "path": path, "content": "x" }).to_string();
        assert_eq!(is_covered(&host, &person, &arguments).await, covered, "{path}");
    }
}

/// Picking a pattern that was not offered has no effect, and the call does not run.
#[tokio::test]
async fn a_pattern_that_was_not_offered_cannot_be_picked() {
    let desk = desk();
    for covers in [Covers::Offer(4), Covers::Offer(usize::MAX)] {
        for answer in [Answer::Always(covers), Answer::Session(covers)] {
            let person = Person::who_says(answer);
            let host = desk.approved_by(&policy(ASK), &person).await;
            let reply = host.call(write("src/a", "x")).await;
            assert_ne!(reply.code, Code::Completed, "{covers:?}");
            assert!(host.approvals().list().await.unwrap().answers.is_empty(), "{covers:?}");
            assert!(host.approvals().list().await.unwrap().questions.is_empty(), "{covers:?}");
        }
    }
}

/// A tool without a path, or with a path that is not plain and relative, offers no directory.
#[tokio::test]
async fn no_pattern_is_offered_for_unusual_paths() {
    let desk = desk();
    let person = Person::who_says(no());
    let host = desk.approved_by(&policy(ASK), &person).await;
    for (number, path) in ["/etc/passwd", "../up/a", "a/../b/c", "a//b", "c:\\x\\y", ""].into_iter().enumerate() {
        host.call(write(path, "x").session(&number.to_string())).await;
        let asked = person.asked();
        assert!(asked[0].offers.iter().all(|offer| !offer.contains("**")), "{path}: {:?}", asked[0].offers);
    }
}
