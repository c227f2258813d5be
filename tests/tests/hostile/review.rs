//! Reviewers and approvers: a review can tighten the policy's decision, and an answer covers exactly the call that will
//! run.

use portcullis::approvals::{DenyAll, Scripted, Subject};
use portcullis::plugins::Contract;
use portcullis::{Answer, Code, Outcome, Question, Reply, Request};
use portcullis_tests::{Attack, outcomes};
use std::sync::Arc;

/// Makes a call of a guest under a policy, with an approver that gives these answers.
async fn call(contract: Contract, guest: &str, decision: &str, answers: &[Answer]) -> (Reply, Vec<Question>) {
    let attack = Attack::by(contract, guest);
    let policy = format!("[[rule]]\ntool = \"*.*\"\ndecision = \"{decision}\"\n");
    let approver = Scripted::new(answers.iter().cloned());
    let host = attack.site().builder(&policy).approver(Arc::new(approver.clone())).open().await.unwrap();
    let reply = host.call(attack.request()).await;
    assert_eq!(outcomes(&host).len(), 1);
    assert!(host.audit().verify().await.unwrap().fault.is_none());
    (reply, approver.asked())
}

pub(crate) async fn review_asks(contract: Contract) {
    let (reply, asked) = call(contract, "review_asks", "allow", &[Answer::Yes]).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].subject, Subject::Call);
    assert!(asked[0].reason.contains("look\\u{1b}[2J"), "{}", asked[0].reason);

    let (reply, _) = call(contract, "review_asks", "allow", &[]).await;
    assert_eq!(reply.code, Code::ApprovalDenied);

    let (reply, asked) = call(contract, "review_asks", "deny", &[Answer::Yes]).await;
    assert_eq!(reply.code, Code::PolicyDenied, "a review cannot permit a denied call");
    assert!(asked.is_empty());
}

pub(crate) async fn review_refuses(contract: Contract) {
    for decision in ["allow", "ask"] {
        let (reply, asked) = call(contract, "review_refuses", decision, &[Answer::Yes]).await;
        assert_eq!(reply.code, Code::ReviewRefused);
        assert!(!reply.message.chars().any(portcullis::text::is_deceptive), "{:?}", reply.message);
        assert!(asked.is_empty(), "a call that the plugin refuses needs no approver");
    }
}

pub(crate) async fn review_loops(contract: Contract) {
    let (reply, _) = call(contract, "review_loops", "allow", &[]).await;
    assert_eq!(reply.code, Code::ReviewRefused);
    assert!(reply.message.contains("time"), "{}", reply.message);
}

pub(crate) async fn review_hoards(contract: Contract) {
    let (reply, _) = call(contract, "review_hoards", "allow", &[]).await;
    assert_eq!(reply.code, Code::ReviewRefused);
    assert!(reply.message.contains("host-memory"), "{}", reply.message);
}

/// The request shows the arguments as they will run, and the note of a denial reaches the model.
async fn a_person_is_asked_about_what_runs(contract: Contract) {
    let attack = Attack::by(contract, "good");
    let policy = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";
    let approver = Scripted::new([Answer::Yes, Answer::No { note: Some("not\u{1b} now".to_owned()) }]);
    let host = attack.site().builder(policy).approver(Arc::new(approver.clone())).open().await.unwrap();
    let request = || Request::new("good.run", r#"{ "b": 1.0, "a": 2 }"#).session("s").principal("p".parse().unwrap());
    let yes = host.call(request()).await;
    let no = host.call(request()).await;
    let again = host.call(request()).await;
    assert_eq!(yes.code, Code::Completed, "{}", yes.message);
    assert_eq!(approver.asked()[0].arguments, r#"{"a":2,"b":1}"#);
    assert_eq!((approver.asked()[0].session.as_str(), approver.asked()[0].principal.as_str()), ("s", "p"));
    assert_eq!(no.code, Code::ApprovalDenied);
    assert!(no.message.contains("not\\u{1b} now"), "{}", no.message);
    assert_eq!(again.outcome(), Outcome::Denied, "an approval covers only one call");
}

/// Without an approver the call is denied, and also if no answer comes in time.
async fn without_an_answer_nothing_runs(contract: Contract) {
    struct Silence;
    impl portcullis::Approver for Silence {
        fn answer<'a>(&'a self, _: &'a Question) -> portcullis::approvals::Answering<'a> {
            Box::pin(std::future::pending())
        }
    }
    let policy = "[limits]\napproval-time = \"50 ms\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";
    let approvers: [Arc<dyn portcullis::Approver>; 2] = [Arc::new(DenyAll), Arc::new(Silence)];
    for approver in approvers {
        let attack = Attack::by(contract, "good");
        let host = attack.site().builder(policy).approver(approver).open().await.unwrap();
        assert_eq!(host.call(attack.request()).await.code, Code::ApprovalDenied);
    }
}

in_every_contract! {
    tokio::test =>
        review_asks
        review_refuses
        review_hoards
        review_loops
        a_person_is_asked_about_what_runs
        without_an_answer_nothing_runs;
}
