//! The same call again and again: the host notices it before a person does, and asks although the policy allows.

use crate::desk::{ALLOW, ASK, Desk, GRANT, left_behind, mark, open, policy_with};
use crate::people::{Person, no};
use portcullis::approvals::Subject;
use portcullis::policy::{Principal, Unattended};
use portcullis::{Answer, Code, Covers, Host, Request};
use std::sync::Arc;

/// Sessions of a flood: more than the host remembers of one principal.
const SESSIONS: usize = 1500;

fn good(arguments: &str) -> Request {
    Request::new("good.run", arguments)
}

async fn allowing(desk: &Desk, lines: &str, answer: Answer) -> (Host, Arc<Person>) {
    let person = Person::who_says(answer);
    let host = desk.approved_by(&policy_with(lines, GRANT, ALLOW), &person).await;
    (host, person)
}

/// Calls, and tells how many questions that led to.
async fn asked(host: &Host, person: &Person, request: Request) -> usize {
    host.call(request).await;
    person.asked().len()
}

#[tokio::test]
async fn the_third_call_in_a_row_asks_although_the_policy_allows() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", Answer::Yes).await;
    // However it is spelt, it is the same call.
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
async fn a_yes_begins_the_row_anew_and_a_no_does_not() {
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
async fn another_call_between_ends_the_row() {
    let desk = Desk::new();
    let (host, person) = allowing(&desk, "", no()).await;
    for round in 0..10 {
        assert_eq!(asked(&host, &person, good("{}")).await, 0, "round {round}");
        assert_eq!(asked(&host, &person, good("{}")).await, 0, "round {round}");
        let between = if round % 2 == 0 { good(r#"{"other":1}"#) } else { mark(round) };
        assert_eq!(asked(&host, &person, between).await, 0, "round {round}");
    }
}

/// A row belongs to a session and a principal: what others do neither ends it nor adds to it.
#[tokio::test]
async fn the_calls_of_others_are_not_in_the_row() {
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

/// A principal that makes sessions without end loses its own rows alone.
#[tokio::test]
async fn sessions_without_end_reset_the_row_of_no_other_principal() {
    let desk = Desk::new();
    let person = Person::who_says(no());
    // Without a grant no call of `marks` runs, and each is counted all the same.
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
async fn how_often_is_too_often_is_for_the_policy_to_say() {
    let desk = Desk::new();
    for repeats in [2, 5] {
        let (host, person) = allowing(&desk, &format!("repeats = {repeats}"), no()).await;
        for number in 1..=repeats {
            assert_eq!(asked(&host, &person, good("{}")).await, usize::from(number == repeats), "call {number}");
        }
    }
}

/// An answer for always ends the questions of a row; it is none for the call itself where the policy asks about that.
#[tokio::test]
async fn an_answer_to_a_repetition_is_about_repeating() {
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

/// A call that the policy denies is denied however often it comes, and nobody is asked.
#[tokio::test]
async fn a_repetition_loosens_nothing() {
    let desk = Desk::new();
    let person = Person::who_says(Answer::Yes);
    let deny = "[[rule]]\ntool = \"*.*\"\ndecision = \"deny\"\n";
    let host = desk.approved_by(&policy_with("", GRANT, deny), &person).await;
    for _ in 0..10 {
        assert_eq!(host.call(good("{}")).await.code, Code::PolicyDenied);
    }
    assert_eq!(person.asked(), []);
}

/// With nobody there it stays behind like any other, and a resumed call is not one more of the row.
#[tokio::test]
async fn a_repetition_stays_behind_and_is_resumed() {
    let desk = Desk::new();
    let policy = policy_with("", GRANT, ALLOW);
    let host = open(desk.site.builder(&policy).unattended(Unattended::Pending)).await;
    for _ in 0..2 {
        assert_eq!(host.call(mark(1)).await.code, Code::Completed);
    }
    let id = left_behind(&host, mark(1)).await;
    host.approvals().answer(&id, &Answer::Yes).unwrap();
    assert_eq!(host.resume(&id).await.unwrap().code, Code::Completed);
    assert!(host.resume(&id).await.is_err());
    assert_eq!(desk.marks().into_values().collect::<Vec<_>>(), [3]);
    desk.verifies();
}
