//! An approver that panics has refused, and takes nothing else down with it.

use crate::approvals::desk::{Desk, mark};
use crate::approvals::middle::ASKS;
use portcullis::approvals::{Answering, Status};
use portcullis::{Answer, Approver, Code, Question, Request};
use portcullis_tests::{Manifest, component, module, outcome_of};
use std::sync::Arc;
use std::time::Duration;

/// Panics when it is asked in one of these sessions, and approves in any other.
struct Panics;

impl Approver for Panics {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        match question.session.as_str() {
            "at once" => panic!("canary at once"),
            "later" => Box::pin(async {
                tokio::task::yield_now().await;
                panic!("canary later")
            }),
            "in the middle" if question.is_in_the_middle() => panic!("canary in the middle"),
            _ => Box::pin(std::future::ready(Answer::Yes)),
        }
    }

    fn asks_caller(&self, question: &Question) -> bool {
        assert_ne!(question.session, "asks the caller", "canary");
        false
    }
}

#[tokio::test]
async fn an_approver_that_panics_has_refused_and_the_host_goes_on() {
    let desk = Desk::new();
    let host = desk.asking(&Arc::new(Panics)).await;
    for session in ["at once", "later"] {
        let reply = host.call(mark(1).session(session)).await;
        assert_eq!(reply.code, Code::ApprovalDenied, "{session}: {}", reply.message);
        assert!(!reply.message.contains("canary"), "{}", reply.message);
        let outcome = outcome_of(&host, &reply.id);
        assert!(outcome["detail"].as_str().unwrap().contains(&format!("canary {session}")), "{outcome}");
    }
    assert!(desk.marks().is_empty());
    let questions = host.approvals().list_all().await.unwrap().questions;
    assert!(questions.iter().all(|question| question.status == Status::Rejected), "{questions:?}");
    // It waits no longer than a call whose approver says nothing about its caller.
    let asks_caller = mark(2).session("asks the caller").approval_wait(Duration::from_secs(60));
    assert_eq!(host.call(asks_caller).await.code, Code::Completed);
    assert_eq!(host.call(mark(3)).await.code, Code::Completed);
    desk.verifies();
}

#[tokio::test]
async fn an_approver_that_panics_in_the_middle_of_a_call_has_refused() {
    let desk = Desk::new();
    let manifest = Manifest::of("asks").tool(|tool| tool.required = 2);
    desk.site.plugin("asks", &component(&module(ASKS, &manifest)));
    let host = desk.asking(&Arc::new(Panics)).await;
    let reply = host.call(Request::new("asks.run", r#"{"k":"y","p":"x"}"#).session("in the middle")).await;
    assert_eq!(reply.code, Code::ToolDenied, "{}", reply.message);
    assert!(!reply.message.contains("canary"), "{}", reply.message);
    desk.verifies();
}
