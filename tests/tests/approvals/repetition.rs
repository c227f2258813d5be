//! The same call repeated: the host requests approval although the policy allows it.

use crate::approvals::desk::{ALLOW, ASK, Desk, GRANT, left_behind, mark, open, policy_with};
use crate::approvals::people::{Person, no};
use portcullis::approvals::Subject;
use portcullis::policy::{Principal, Unattended};
use portcullis::{Answer, Code, Covers, Host, Request};
use std::sync::Arc;

/// Sessions of a flood: more than the host remembers per principal.
const SESSIONS: usize = 1500;

fn good(arguments: &str) -> Request {
    Request::new("good.run", arguments)
}

async fn allowing(desk: &Desk, lines: &str, answer: Answer) -> (Host, Arc<Person>) {
    let person = Person::who_says(answer);
    let host = desk.approved_by(&policy_with(lines, GRANT, ALLOW), &person).await;
    (host, person)
}

/// Makes a call. Returns the number of approval requests it caused.
async fn asked(host: &Host, person: &Person, request: Request) -> usize {
    host.call(request).await;
    person.asked().len()
}

#[tokio::test]
async fn the_third_equal_call_in_a_row_needs_approval() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", Answer::Yes).await;
    // Another spelling of the arguments is the same call.
    let spellings = [r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#, r#""{\"b\":2,\"a\":1}""#];
    for (number, arguments) in spellings.into_iter().enumerate() {
        let reply = host.call(good(arguments)).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let questions = person.asked();
        assert_eq!(questions.len(), usize::from(number == 2), "call {}", number + 1);
        if let [question] = &questions[..] {
            assert_eq!(question.subject, Subject::Repeat);
            assert!(question.reason.contains("3 times in a row"), "{}", question.reason);
        }
    }
    desk.verifies();
}

#[tokio::test]
async fn an_approval_resets_the_row_and_a_denial_does_not() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", Answer::Yes).await;
    for (number, questions) in [0, 0, 1, 0, 0, 1, 0, 0, 1].into_iter().enumerate() {
        assert_eq!(asked(&host, &person, good("{}")).await, questions, "call {}", number + 1);
    }
    let (host, person) = allowing(&desk, "", no()).await;
    for (number, questions) in [0, 0, 1, 1, 1, 0, 0].into_iter().enumerate() {
        let reply = host.call(good("{}")).await;
        assert_eq!(reply.code == Code::Completed, number < 2, "call {}", number + 1);
        assert_eq!(person.asked().len(), questions, "call {}", number + 1);
    }
}

#[tokio::test]
async fn a_different_call_ends_the_row() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", no()).await;
    for round in 0..10 {
        assert_eq!(asked(&host, &person, good("{}")).await, 0, "round {round}");
        assert_eq!(asked(&host, &person, good("{}")).await, 0, "round {round}");
        let between = if round % 2 == 0 { good(r#"{"other":1}"#) } else { mark(round) };
        assert_eq!(asked(&host, &person, between).await, 0, "round {round}");
    }
}

/// A row belongs to a session and a principal. Calls of others neither end nor extend it.
#[tokio::test]
async fn calls_of_others_do_not_affect_the_row() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", no()).await;
    let others = || {
        let bob = "bob".parse().unwrap();
        [good("{}").session("b"), good("{}").session("a").principal(bob), good(r#"{"x":1}"#).session("c")]
    };
    for (number, questions) in [0, 0, 1].into_iter().enumerate() {
        assert_eq!(asked(&host, &person, good("{}").session("a")).await, questions, "call {}", number + 1);
        if number == 0 {
            for other in others() {
                assert_eq!(asked(&host, &person, other).await, 0);
            }
        }
    }
}

/// A principal with endless new sessions resets only its own rows.
#[tokio::test]
async fn endless_sessions_reset_no_other_principals_row() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    // Without a grant, no call of `marks` runs, but each one is counted.
    let host = desk.approved_by(ALLOW, &person).await;
    let of = |name: &str| name.parse::<Principal>().unwrap();
    for _ in 0..2 {
        assert_eq!(asked(&host, &person, good("{}").principal(of("alice"))).await, 0);
    }
    for number in 0..SESSIONS {
        let principal = if number % 2 == 0 { of("bob") } else { of("bob").attenuated("helper").unwrap() };
        let request = mark(number).principal(principal).session(&number.to_string());
        assert_eq!(host.call(request).await.code, Code::DependencyNotGranted);
    }
    assert_eq!(asked(&host, &person, good("{}").principal(of("alice"))).await, 1);
    assert_eq!(person.asked(), []);
}

#[tokio::test]
async fn the_policy_sets_the_number_of_repeats() {
    let desk = Desk::new();
    for repeats in [2, 5] {
        let (host, person) = allowing(&desk, &format!("repeats = {repeats}"), no()).await;
        for number in 1..=repeats {
            assert_eq!(asked(&host, &person, good("{}")).await, usize::from(number == repeats), "call {number}");
        }
    }
}

/// An approval for always about repetition ends the requests of a row. It does not approve the call if the policy asks.
#[tokio::test]
async fn an_approval_of_a_repetition_covers_only_repetition() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", Answer::Always(Covers::Exact)).await;
    for (number, questions) in [0, 0, 1, 0, 0, 0, 0, 0, 0].into_iter().enumerate() {
        assert_eq!(asked(&host, &person, good("{}")).await, questions, "call {}", number + 1);
    }
    drop(host);
    person.says(no());
    let host = desk.approved_by(&policy_with("", GRANT, ASK), &person).await;
    assert_eq!(host.call(good("{}")).await.code, Code::ApprovalDenied);
    assert_eq!(person.asked().len(), 1);
}

/// A call that the policy denies is denied however often it is repeated, without a request.
#[tokio::test]
async fn a_repetition_permits_nothing() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Yes);
    let deny = "[[rule]]\ntool = \"*.*\"\ndecision = \"deny\"\n";
    let host = desk.approved_by(&policy_with("", GRANT, deny), &person).await;
    for _ in 0..10 {
        assert_eq!(host.call(good("{}")).await.code, Code::PolicyDenied);
    }
    assert_eq!(person.asked(), []);
}

/// Without an approver, a repeated call stays pending like any other. A resumed call does not extend the row.
#[tokio::test]
async fn a_repeated_call_stays_pending_and_can_be_resumed() {
    let desk = Desk::new();
    let policy = policy_with("", GRANT, ALLOW);
    let host = open(desk.site.builder(&policy).unattended(Unattended::Pending)).await;
    for _ in 0..2 {
        assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    }
    let id = left_behind(&host, mark(1)).await;
    host.approvals().answer(&id, &Answer::Yes).await.unwrap();
    assert_eq!(host.resume(&id).await.unwrap().code, Code::Completed);
    assert!(host.resume(&id).await.is_err());
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [3]);
    desk.verifies();
}
