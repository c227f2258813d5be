//! What an approval is bound to: it covers every spelling of the same call, and no other call. P01, P05, P11, P29.

use crate::approvals::desk::{ASK, Desk, GRANT, marks, marks_manifest, policy, policy_with};
use crate::approvals::people::{Person, no};
use portcullis::policy::Principal;
use portcullis::{Answer, Batch, Code, Covers, Host, Question, Request};
use portcullis_tests::{Manifest, guest};
use std::fs;
use std::sync::Arc;

/// The arguments that were approved for always.
const APPROVED: &str = r#"{"a":2,"b":{"c":[1,true],"d":"é"}}"#;

/// The same arguments in other spellings.
const SPELLINGS: [&str; 6] = [
    r#"{"a":2,"b":{"c":[1,true],"d":"é"}}"#,
    r#"{"b":{"d":"é","c":[1,true]},"a":2}"#,
    r#"{"a":2.0,"b":{"c":[1e0,true],"d":"é"}}"#,
    r#"{"a":20e-1,"b":{"c":[1,true],"d":"\u00e9"}}"#,
    " {\n\"a\" : 2 , \"b\" : {\"c\" : [ 1 , true ] , \"d\" : \"é\" } } ",
    r#""{\"b\":{\"d\":\"é\",\"c\":[1,true]},\"a\":2}""#,
];

/// Other arguments, each with a minimal difference.
const OTHERS: [&str; 11] = [
    r#"{"a":3,"b":{"c":[1,true],"d":"é"}}"#,
    r#"{"a":2.5,"b":{"c":[1,true],"d":"é"}}"#,
    r#"{"a":"2","b":{"c":[1,true],"d":"é"}}"#,
    r#"{"a":2,"b":{"c":[true,1],"d":"é"}}"#,
    r#"{"a":2,"b":{"c":[1,true],"d":"e\u0301"}}"#,
    r#"{"a":2,"b":{"c":[1,true],"d":"é "}}"#,
    r#"{"A":2,"b":{"c":[1,true],"d":"é"}}"#,
    r#"{"a":2,"b":{"c":[1,true]}}"#,
    r#"{"a":2,"b":{"c":[1,true],"d":"é"},"e":null}"#,
    r#"{"a":2,"b":"{\"c\":[1,true],\"d\":\"é\"}"}"#,
    r#"{"a":[2],"b":{"c":[1,true],"d":"é"}}"#,
];

fn approved() -> Request {
    Request::new("good.run", APPROVED).session("first")
}

/// Opens a host on which a call was approved, with an approver who denies everything from now on.
async fn approved_once(desk: &Desk, answer: Answer) -> (Host, Arc<Person>) {
    let person = Person::who_says(answer);
    let host = desk.asking(&person).await;
    assert_eq!(host.call(approved()).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
    person.says(no());
    (host, person)
}

/// Asserts that a call needs approval. Returns the request. Each call has its own session, so that the denials do not
/// count as a row.
async fn asks(host: &Host, person: &Person, request: Request, what: &str) -> Question {
    let reply = host.call(request).await;
    assert_eq!(reply.code, Code::ApprovalDenied, "{what}: {}", reply.message);
    let mut asked = person.asked();
    assert_eq!(asked.len(), 1, "{what}");
    asked.remove(0)
}

async fn runs_unasked(host: &Host, person: &Person, request: Request, what: &str) {
    let reply = host.call(request).await;
    assert_eq!(reply.code, Code::Completed, "{what}: {}", reply.message);
    assert_eq!(person.asked(), [], "{what}");
}

#[tokio::test]
async fn an_approval_covers_every_spelling_of_the_same_arguments() {
    let desk = Desk::new();
    let (host, person) = approved_once(&desk, Answer::Always(Covers::Exact)).await;
    for spelling in SPELLINGS {
        runs_unasked(&host, &person, Request::new("good.run", spelling).session("other"), spelling).await;
    }
    desk.verifies();
}

#[tokio::test]
async fn an_approval_is_valid_in_a_batch_and_after_a_restart() {
    let desk = Desk::new();
    let (host, person) = approved_once(&desk, Answer::Always(Covers::Exact)).await;
    let batch = Batch::new(SPELLINGS.map(|spelling| Request::new("good.run", spelling)).to_vec());
    let replies = host.batch(batch).await;
    assert!(replies.iter().all(|reply| reply.code == Code::Completed), "{replies:?}");
    assert_eq!(person.asked(), []);
    drop(host);
    let host = desk.asking(&person).await;
    runs_unasked(&host, &person, approved(), "after a restart").await;
}

#[tokio::test]
async fn an_approval_covers_no_other_arguments() {
    let desk = Desk::new();
    let (host, person) = approved_once(&desk, Answer::Always(Covers::Exact)).await;
    for (number, other) in OTHERS.into_iter().enumerate() {
        let request = Request::new("good.run", other).session(&number.to_string());
        let question = asks(&host, &person, request, other).await;
        assert_eq!(question.changed, None, "{other}");
    }
    runs_unasked(&host, &person, approved(), "the approved call").await;
}

/// Another tool of the same plugin, another plugin that differs only in its name, another principal, its sub-agent, and
/// a session that automation started.
#[tokio::test]
async fn an_approval_covers_no_other_tool_and_no_other_caller() {
    let mut manifest = Manifest::of("two");
    manifest.tools.push(portcullis_tests::Tool::new("other"));
    let desk = Desk::new().with(&manifest).with(&Manifest::of("twin"));
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let host = desk.asking(&person).await;
    let request = |tool: &str, principal: &str| {
        Request::new(tool, APPROVED).session("s").principal(principal.parse::<Principal>().unwrap())
    };
    assert_eq!(host.call(request("two.run", "alice")).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
    person.says(no());
    let others = [
        ("another tool", request("two.other", "alice").session("1")),
        ("another plugin", request("twin.run", "alice").session("2")),
        ("another principal", request("two.run", "bob").session("3")),
        ("a sub-agent", request("two.run", "alice/helper").session("4")),
        ("a name that begins alike", request("two.run", "alice2").session("5")),
        ("automation", request("two.run", "alice").session("6").automated()),
    ];
    for (what, other) in others {
        assert_eq!(asks(&host, &person, other, what).await.changed, None, "{what}");
    }
    runs_unasked(&host, &person, request("two.run", "alice").session("7"), "another session").await;
}

#[tokio::test]
async fn an_approval_for_the_session_is_not_valid_in_another_session() {
    let desk = Desk::new();
    let (host, person) = approved_once(&desk, Answer::Session(Covers::Exact)).await;
    runs_unasked(&host, &person, approved(), "the same session").await;
    for session in ["second", "First", "first ", "default", ""] {
        asks(&host, &person, Request::new("good.run", APPROVED).session(session), session).await;
    }
    // The ledger stores a digest of a long session name. Two long names with the same prefix must be different.
    let long = |last| format!("{}{last}", "s".repeat(500));
    person.says(Answer::Session(Covers::Exact));
    assert_eq!(host.call(Request::new("good.run", APPROVED).session(&long('a'))).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
    person.says(no());
    runs_unasked(&host, &person, Request::new("good.run", APPROVED).session(&long('a')), "the same").await;
    asks(&host, &person, Request::new("good.run", APPROVED).session(&long('b')), "another").await;
}

#[tokio::test]
async fn an_approval_for_once_covers_one_call() {
    let desk = Desk::new();
    let (host, person) = approved_once(&desk, Answer::Yes).await;
    asks(&host, &person, approved(), "the same call again").await;
}

/// Changes of a plugin, and what the next request says about each.
type Change = (&'static str, fn() -> Manifest, &'static [&'static str]);

const CHANGES: [Change; 4] = [
    ("its version", || with_version("2.0.0"), &["plugin changed"]),
    (
        "its description",
        || with_version("1.0.0").tool(|tool| tool.description.push_str(" Now safer.")),
        &["plugin changed", "definition changed"],
    ),
    (
        "its schema",
        || with_version("1.0.0").tool(|tool| tool.schema = r#"{"type":"object","title":"T"}"#.to_owned()),
        &["plugin changed", "definition changed"],
    ),
    (
        "its permissions",
        || with_version("1.0.0").tool(|tool| tool.required = 1),
        &["plugin changed", "definition changed", "permissions were", "read"],
    ),
];

/// Returns the part of a hash that a request shows.
fn digits(sha256: &[u8]) -> String {
    sha256[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn with_version(version: &str) -> Manifest {
    Manifest { version: version.to_owned(), ..Manifest::of("good") }
}

#[tokio::test]
async fn a_plugin_that_changes_loses_its_approvals_and_the_request_says_what_changed() {
    for (what, manifest, says) in CHANGES {
        let desk = Desk::new();
        let (host, person) = approved_once(&desk, Answer::Always(Covers::Exact)).await;
        let sha256 = digits(&host.catalog().plugin("good").unwrap().sha256());
        drop(host);
        desk.site.plugin("good", &guest("good", &manifest()));
        let host = desk.asking(&person).await;
        let changed = asks(&host, &person, approved(), what).await.changed.unwrap();
        assert!(says.iter().all(|part| changed.contains(part)), "{what}: {changed}");
        assert!(changed.contains(&sha256), "{what}: {changed}");
        // The approval was for the old plugin.
        drop(host);
        desk.site.plugin("good", &guest("good", &Manifest::of("good")));
        let host = desk.asking(&person).await;
        runs_unasked(&host, &person, approved(), "the old plugin").await;
    }
}

/// Other grants under the same key, and what the next request says about each.
const GRANTS: [(&str, &str, &str); 3] = [
    ("another directory", r#"{ path = "elsewhere", access = "read-write" }"#, "elsewhere, read-write"),
    ("less", r#"{ path = "work", access = "read-only" }"#, "read-only"),
    ("a directory in it", r#"{ path = "work/deeper", access = "read-write" }"#, "deeper"),
];

#[tokio::test]
async fn a_grant_that_changes_loses_its_approvals_in_both_directions() {
    for (what, other, says) in GRANTS {
        for (first, second) in [(GRANT, other), (other, GRANT)] {
            let desk = desk_with_directories();
            let request = || Request::new("marks.run", r#"{"n":1}"#);
            let person = Person::who_says(Answer::Always(Covers::Exact));
            let host = desk.approved_by(&policy_with("repeats = 9", first, ASK), &person).await;
            host.call(request()).await;
            assert_eq!(person.asked().len(), 1, "{what}");
            drop(host);
            person.says(no());
            let host = desk.approved_by(&policy_with("repeats = 9", second, ASK), &person).await;
            let changed = asks(&host, &person, request(), what).await.changed.unwrap();
            assert!(changed.contains("it got") && changed.contains(says), "{what}: {changed}");
        }
    }
}

fn desk_with_directories() -> Desk {
    let desk = Desk::new();
    desk.site.directory("elsewhere");
    desk.site.directory("work/deeper");
    desk
}

/// A link with a new target is another directory, although the policy has the same text.
#[tokio::test]
async fn a_grant_whose_link_changes_loses_its_approvals() {
    let desk = desk_with_directories();
    let link = desk.site.path("link");
    let policy = policy_with("repeats = 9", r#"{ path = "link", access = "read-write" }"#, ASK);
    let person = Person::who_says(Answer::Always(Covers::Exact));
    std::os::unix::fs::symlink("work", &link).unwrap();
    let host = desk.approved_by(&policy, &person).await;
    assert_eq!(host.call(Request::new("marks.run", "{}")).await.code, Code::Completed);
    assert_eq!(person.asked().len(), 1);
    drop(host);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("elsewhere", &link).unwrap();
    person.says(no());
    let host = desk.approved_by(&policy, &person).await;
    let changed = asks(&host, &person, Request::new("marks.run", "{}"), "the link").await.changed.unwrap();
    assert!(changed.contains("elsewhere"), "{changed}");
}

/// The same grant in another spelling is the same grant.
#[tokio::test]
async fn a_grant_in_another_spelling_keeps_its_approvals() {
    let desk = desk_with_directories();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    for path in ["work", "./work", "work/deeper/.."] {
        let grant = format!("{{ path = \"{path}\", access = \"read-write\" }}");
        let opened = desk.site.builder(&policy_with("repeats = 9", &grant, ASK)).approver(Arc::clone(&person) as _);
        // If the host rejects a spelling, there is nothing to test.
        let Ok(host) = opened.open().await else { continue };
        assert_eq!(host.call(Request::new("marks.run", "{}")).await.code, Code::Completed, "{path}");
    }
    assert_eq!(person.asked().len(), 1);
}

/// A plugin that was rebuilt under another version needs a new approval: the old one covered the old bytes.
#[tokio::test]
async fn an_approval_runs_the_plugin_that_was_loaded() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let host = desk.asking(&person).await;
    let shown = |asked: &[Question]| asked[0].plugin_sha256.clone();
    assert_eq!(host.call(Request::new("marks.run", "{}")).await.code, Code::Completed);
    let first = shown(&person.asked());
    // The file is replaced while the host is open. The host runs the loaded plugin, which is the approved one.
    let rebuilt = Manifest { version: "2.0.0".to_owned(), ..marks_manifest("marks") };
    desk.site.plugin("marks", &marks(&rebuilt));
    assert_eq!(host.call(Request::new("marks.run", "{}")).await.code, Code::Completed);
    assert_eq!(person.asked(), []);
    drop(host);
    let host = desk.approved_by(&policy(ASK), &person).await;
    assert_eq!(host.call(Request::new("marks.run", "{}")).await.code, Code::Completed);
    let asked = person.asked();
    assert_ne!(shown(&asked), first);
    assert!(asked[0].changed.as_ref().unwrap().contains(&first[..12]));
}
