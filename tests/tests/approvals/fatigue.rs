//! A flood of requests does not wear an approver down, and no caller can guess or probe foreign request IDs. P06 to
//! P08.

use crate::approvals::desk::{ASK, Desk, left_behind, mark, policy, the_question};
use crate::approvals::people::{Person, no};
use portcullis::approvals::ApprovalError;
use portcullis::policy::Principal;
use portcullis::{Answer, Approvals, Batch, Code, Covers, Request};
use portcullis_tests::BlockOn;
use std::collections::BTreeSet;

/// Requests of a model that ignores denials. All must be made within the minute in which it is denied everything, also
/// with a database on a busy machine.
const REQUESTS: usize = 150;

/// Sessions of a flood: more than the host remembers per principal.
const SESSIONS: usize = 1100;

/// Calls of a flood that are made at the same time. A call is refused that waits for the database for 10 s.
const AT_ONCE: usize = 100;

#[tokio::test]
async fn three_denials_in_a_row_end_the_requests_of_a_session() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    let host = desk.asking(&person).await;
    let mut last = String::new();
    for number in 0..REQUESTS {
        let reply = host.call(mark(number).session("loud")).await;
        assert_eq!(reply.code, Code::ApprovalDenied);
        last = reply.message;
    }
    assert_eq!(person.asked().len(), 3);
    assert!(last.contains("3 times in a row"), "{last}");
    // Another session still gets requests, and so does the same session of another principal.
    let bob: Principal = "bob".parse().unwrap();
    for request in [mark(0).session("quiet"), mark(0).session("loud").principal(bob)] {
        assert_eq!(host.call(request).await.code, Code::ApprovalDenied);
        assert_eq!(person.asked().len(), 1);
    }
    assert!(desk.marks().is_empty());
    desk.verifies();
}

/// A principal with endless new sessions resets only its own counts.
#[tokio::test]
async fn denials_in_endless_sessions_reset_no_other_principals_count() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    let host = desk.asking(&person).await;
    let alice = |number| mark(number).session("loud").principal("alice".parse().unwrap());
    for number in 0..4 {
        assert_eq!(host.call(alice(number)).await.code, Code::ApprovalDenied);
    }
    assert_eq!(person.asked().len(), 3);
    let flood: Vec<_> = (0..SESSIONS)
        .map(|number| mark(number).session(&number.to_string()).principal("bob".parse().unwrap()))
        .collect();
    for batch in flood.chunks(AT_ONCE) {
        for reply in host.batch(Batch::new(batch.to_vec())).await {
            assert_eq!(reply.code, Code::ApprovalDenied);
        }
    }
    assert_eq!(person.asked().len(), SESSIONS);
    assert!(host.call(alice(4)).await.message.contains("3 times in a row"));
    assert_eq!(person.asked(), []);
}

/// A concurrent flood shows an approver no more requests than sequential calls do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concurrent_flood_reaches_an_approver_like_sequential_calls() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    let host = desk.asking(&person).await;
    let calls: Vec<_> = (0..REQUESTS)
        .map(|number| {
            let host = host.clone();
            tokio::spawn(async move { host.call(mark(number).session("loud")).await.code })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Code::ApprovalDenied);
    }
    let asked = person.asked().len();
    assert!((3..=28).contains(&asked), "{asked} questions");
    assert!(desk.marks().is_empty());
}

/// The same if the answers come from another channel.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_denials_on_another_channel_end_the_requests_of_a_session() {
    let desk = Desk::new();
    let host = crate::approvals::desk::open(desk.site.builder(&policy(ASK)).answered_elsewhere()).await;
    let elsewhere = desk.approvals();
    for number in 0..3 {
        let call = host.call(mark(number).session("loud"));
        let refuse = async { elsewhere.answer(&the_question(&elsewhere).await, &no()).await.unwrap() };
        let (reply, _) = tokio::join!(call, refuse);
        assert_eq!(reply.code, Code::ApprovalDenied);
    }
    for number in 3..50 {
        let reply = host.call(mark(number).session("loud")).await;
        assert_eq!(reply.code, Code::ApprovalDenied);
        assert!(reply.message.contains("3 times in a row"), "{}", reply.message);
    }
}

/// An approval resets the count. A remembered approval needs no request.
#[tokio::test]
async fn an_approval_resets_the_count_of_denials() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    let host = desk.asking(&person).await;
    for round in 0..4 {
        for number in 0..2 {
            person.says(no());
            assert_eq!(host.call(mark(10 * round + number)).await.code, Code::ApprovalDenied);
        }
        person.says(Answer::Yes);
        assert_eq!(host.call(mark(10 * round + 9)).await.code, Code::Completed);
    }
    assert_eq!(person.asked().len(), 12);
}

/// Calls with a remembered approval still run after the session's requests have ended.
#[tokio::test]
async fn a_remembered_approval_outlasts_a_row_of_denials() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Always(Covers::Exact));
    let host = desk.asking(&person).await;
    assert_eq!(host.call(mark(0)).await.code, Code::Completed);
    person.says(no());
    for number in 1..5 {
        assert_eq!(host.call(mark(number)).await.code, Code::ApprovalDenied);
    }
    assert_eq!(person.asked().len(), 4);
    assert_eq!(host.call(mark(0)).await.code, Code::Completed);
    assert_eq!(person.asked(), []);
}

/// Returns the errors of everything that can be done with an ID.
fn tried(approvals: &Approvals, id: &str) -> Vec<String> {
    let text = |error: ApprovalError| format!("{error} {error:?}");
    vec![
        text(approvals.question(id).block_on().unwrap_err()),
        text(approvals.answer(id, &Answer::Yes).block_on().unwrap_err()),
        text(approvals.answer(id, &no()).block_on().unwrap_err()),
        text(approvals.revoke(id).block_on().unwrap_err()),
    ]
}

#[tokio::test]
async fn a_foreign_id_gives_the_same_error_as_an_unknown_one() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let alice: Principal = "alice".parse().unwrap();
    let pending = left_behind(&host, mark(1).principal(alice.clone())).await;
    let below = left_behind(&host, mark(2).principal(alice.attenuated("helper").unwrap())).await;
    let approved = left_behind(&host, mark(3).principal(alice.clone())).await;
    host.approvals().answer(&approved, &Answer::Always(Covers::Exact)).await.unwrap();
    let held = host.approvals().list().await.unwrap().answers[0].id.clone();
    for stranger in ["bob", "alic", "alice2", "bob/alice"] {
        let theirs = desk.approvals().within(&stranger.parse().unwrap());
        let never = tried(&theirs, &"0".repeat(32));
        for id in [&pending, &below, &approved, &held] {
            assert_eq!(tried(&theirs, id), never, "{stranger}");
        }
        let listed = theirs.list_all().await.unwrap();
        assert!(listed.questions.is_empty() && listed.answers.is_empty() && listed.faults.is_empty());
    }
    // A sub-agent cannot answer for its parent. A parent can answer for its sub-agent.
    let helper = desk.approvals().within(&"alice/helper".parse().unwrap());
    assert_eq!(helper.list_all().await.unwrap().questions.len(), 1);
    assert_eq!(tried(&helper, &pending), tried(&helper, "nothing"));
    let hers = desk.approvals().within(&alice);
    assert_eq!(hers.list_all().await.unwrap().questions.len(), 3);
    hers.answer(&below, &no()).await.unwrap();
    hers.revoke(&held).await.unwrap();
    hers.revoke(&approved).await.unwrap();
    desk.verifies();
}

/// A malformed ID gives the same error as an unknown one, and does no harm.
#[tokio::test]
async fn a_malformed_id_is_unknown() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let id = left_behind(&host, mark(1)).await;
    let never = tried(host.approvals(), &"0".repeat(32));
    let upper = id.to_uppercase();
    for wrong in
        ["", "'; DROP TABLE question; --", "%", "*", "../../key", "\u{0}", &id[..31], &format!("{id} "), &upper]
    {
        if wrong != id {
            assert_eq!(tried(host.approvals(), wrong), never, "{wrong:?}");
            assert!(matches!(host.resume(wrong).await, Err(ApprovalError::Unknown)), "{wrong:?}");
        }
    }
    assert_eq!(host.approvals().question(&id).await.unwrap().id, id);
}

#[tokio::test]
async fn ids_have_128_random_bits_and_are_unique() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let batch = Batch::new((0..200).map(mark).collect());
    let mut ids = BTreeSet::new();
    for reply in host.batch(batch).await {
        ids.insert(reply.id.clone());
        ids.insert(crate::approvals::desk::question_in(&reply));
    }
    for question in host.approvals().list().await.unwrap().questions {
        host.approvals().answer(&question.id, &Answer::Always(Covers::Exact)).await.unwrap();
    }
    ids.extend(host.approvals().list().await.unwrap().answers.into_iter().map(|held| held.id));
    assert_eq!(ids.len(), 600, "a call, its request and its answer each have an ID");
    for id in &ids {
        assert!(id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte)), "{id}");
    }
    // Every bit is set in about half of the IDs. With 600 IDs, a count outside of 200 to 400 is practically impossible.
    for bit in 0..128 {
        let set = ids.iter().filter(|id| u128::from_str_radix(id, 16).unwrap() >> bit & 1 == 1).count();
        assert!((200..400).contains(&set), "bit {bit} is set in {set}");
    }
}

/// A call cannot answer an approval request: there is no such tool.
#[tokio::test]
async fn no_tool_answers_approval_requests() {
    let desk = Desk::new();
    let host = desk.headless().await;
    let id = left_behind(&host, mark(1)).await;
    for tool in
        ["approvals.approve", "portcullis.approve", "host.resume", "policy.trust", "good.approve", "*.*", "approve"]
    {
        let reply = host.call(Request::new(tool, format!("{{\"id\":\"{id}\"}}"))).await;
        assert_eq!(reply.code, Code::UnknownTool, "{tool}");
    }
    assert_eq!(host.approvals().question(&id).await.unwrap().status, portcullis::approvals::Status::Pending);
}
