//! Batches: several calls share a host in order, within their limit, and without blocking each other.

use crate::calls::desk::{Desk, Gate, Running, until, word};
use portcullis::approvals::Answering;
use portcullis::approvals::Scripted;
use portcullis::events::{Event, Events};
use portcullis::{Answer, Approver, BATCH_REQUESTS_MAX, Batch, Cancellation, Code, Host};
use portcullis::{Outcome, Output, Question, Reply, Request, Steering};
use portcullis_tests::{assert_verifies, outcomes};
use std::sync::Arc;

/// Builds calls of `NAME.run`, each in its own session.
fn requests(names: &[&str]) -> Vec<Request> {
    let request = |(at, name): (usize, &&str)| {
        Request::new(format!("{name}.run"), format!(r#"{{"at":{at}}}"#)).session(&at.to_string())
    };
    names.iter().enumerate().map(request).collect()
}

fn codes(replies: &[Reply]) -> Vec<Code> {
    replies.iter().map(|reply| reply.code).collect()
}

fn spawn(host: &Host, batch: Batch) -> tokio::task::JoinHandle<Vec<Reply>> {
    let host = host.clone();
    tokio::spawn(async move { host.batch(batch).await })
}

/// Reads events until one matches. Returns the sessions of the events.
async fn sessions(events: &mut Events, wanted: &str, count: usize) -> Vec<String> {
    let mut sessions = Vec::new();
    let all = |event: &Event| {
        if word(event) == wanted {
            sessions.push(event.session.to_string());
        }
        sessions.len() == count
    };
    until(events, all).await;
    sessions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_have_the_order_of_the_requests() {
    let desk = Desk::new().with_naps();
    let host = desk.open().await;
    let names = ["writer", "nothing", "good", "reader", "refused", "good", "sequential"];
    let replies = host.batch(Batch::new(requests(&names))).await;
    assert_eq!(replies.len(), names.len());
    for (at, (reply, name)) in replies.iter().zip(names).enumerate() {
        assert_eq!(reply.tool, format!("{name}.run"));
        match name {
            "nothing" => assert_eq!(reply.code, Code::UnknownTool),
            "refused" => assert_eq!(reply.code, Code::PluginRefused),
            _ => assert_eq!(reply.output, Some(Output::Text(format!(r#"{{"at":{at}}}"#))), "{}", reply.message),
        }
    }
    assert!(host.batch(Batch::new(Vec::new())).await.is_empty());
    assert_eq!(outcomes(&host).len(), names.len());
    assert_verifies(&host);
}

/// Sixty calls that never end: 25 run, and each cancelled call makes room for the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_most_twenty_five_calls_run_concurrently() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open().await;
    let mut events = host.events();
    let cancellations: Vec<_> = (0..60).map(|_| Cancellation::new()).collect();
    let requests = requests(&["sleep-in-execute"; 60]).into_iter().zip(&cancellations);
    let requests = requests.map(|(request, own)| request.cancellation(own.clone())).collect();
    let batch = spawn(&host, Batch::new(requests));
    let mut running = Running::default();
    while running.ended < 60 {
        until(&mut events, |event| {
            running.hear(event);
            true
        })
        .await;
        assert!(running.sessions.len() <= 25, "{} run concurrently", running.sessions.len());
        if running.sessions.len() == 25.min(60 - running.ended) {
            for session in &running.sessions {
                cancellations[session.parse::<usize>().unwrap()].cancel();
            }
        }
    }
    assert_eq!(running.most, 25);
    assert!(codes(&batch.await.unwrap()).iter().all(|code| *code == Code::Cancelled));
    assert_verifies(&host);
}

/// Calls that may write or are marked sequential run alone. The others run concurrently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_may_write_runs_alone_in_its_batch() {
    let desk = Desk::new().with_naps();
    let host = desk.open().await;
    let mut events = host.events();
    let names = ["reader", "reader", "reader", "writer", "writer", "sequential", "reader", "reader", "sequential"];
    let names = names.repeat(4);
    let batch = spawn(&host, Batch::new(requests(&names)));
    let mut running = Running::default();
    let mut most_readers = 0;
    while running.ended < names.len() {
        until(&mut events, |event| {
            running.hear(event);
            true
        })
        .await;
        let alone = |session: &String| names[session.parse::<usize>().unwrap()] != "reader";
        if running.sessions.iter().any(alone) {
            assert_eq!(running.sessions.len(), 1, "{running:?}");
        }
        most_readers = most_readers.max(running.sessions.len());
    }
    assert!(most_readers > 1, "readers must run concurrently");
    assert!(codes(&batch.await.unwrap()).iter().all(|code| *code == Code::Completed));
}

/// Batches of different sessions do not wait for each other, nor does a single call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_do_not_exclude_each_other() {
    let desk = Desk::new()
        .with_named("sleep-in-execute", &portcullis_tests::Manifest::of("sleeps").tool(|tool| tool.hints = 16));
    let host = desk.open().await;
    let mut events = host.events();
    let cancellation = Cancellation::new();
    let batch = |session| {
        let requests = vec![Request::new("sleeps.run", "{}").session(session)];
        Batch::new(requests).cancellation(cancellation.clone())
    };
    let batches = [spawn(&host, batch("one")), spawn(&host, batch("other"))];
    sessions(&mut events, "running", 2).await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    cancellation.cancel();
    for batch in batches {
        assert_eq!(codes(&batch.await.unwrap()), [Code::Cancelled]);
    }
}

/// With one run slot, the first call waits for an approval before it starts. The other calls use the slot meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_for_an_approval_blocks_no_other() {
    let desk = Desk::new().with_naps().with_asked();
    let gate = Gate::closed();
    let host = desk.builder().approver(Arc::clone(&gate) as _).open().await.unwrap();
    let mut events = host.events();
    let batch = spawn(&host, Batch::new(requests(&["asked", "good", "writer", "good"])).at_once(1));
    let mut ended = sessions(&mut events, "completed", 3).await;
    ended.sort();
    assert_eq!(ended, ["1", "2", "3"]);
    gate.yes.add_permits(1);
    assert_eq!(codes(&batch.await.unwrap()), [Code::Completed; 4]);
}

/// The same for a call that runs alone and asks while it runs: it releases the lock, and continues on its next turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_asks_while_running_blocks_no_other() {
    let desk = Desk::new().with_naps().with_asks();
    let gate = Gate::closed();
    // The first approval is for the call itself.
    gate.yes.add_permits(1);
    let host = desk.builder().approver(Arc::clone(&gate) as _).open().await.unwrap();
    let mut events = host.events();
    let batch = spawn(&host, Batch::new(requests(&["asks", "writer", "reader", "writer"])).at_once(1));
    let mut running = Running::default();
    let mut waits = 0;
    until(&mut events, |event| {
        running.hear(event);
        waits += usize::from(word(event) == "waiting");
        assert!(running.sessions.len() <= 1, "{running:?}");
        running.ended == 3 && waits == 2
    })
    .await;
    gate.yes.add_permits(1);
    let before = until(&mut events, |event| word(event) == "completed").await;
    assert_eq!(before.iter().map(word).collect::<Vec<_>>(), ["running"], "the call must run again before it ends");
    assert_eq!(codes(&batch.await.unwrap()), [Code::Completed; 4]);
}

/// When the user steers, calls that have not started are skipped and their approval requests withdrawn. Running calls
/// continue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steering_skips_calls_that_have_not_started() {
    let desk = Desk::new().with("sleep-in-execute").with_asked();
    let host = desk.builder().approver(Gate::closed()).open().await.unwrap();
    let mut events = host.events();
    let (steering, own) = (Steering::new(), Cancellation::new());
    let requests = requests(&["sleep-in-execute", "sleep-in-execute", "sleep-in-execute", "asked"]);
    let requests = requests.into_iter().map(|request| request.cancellation(own.clone())).collect();
    let batch = spawn(&host, Batch::new(requests).at_once(1).steering(steering.clone()));
    let (mut runs, mut waits) = (None, false);
    until(&mut events, |event| {
        match word(event) {
            "running" => runs = Some(event.session.parse::<usize>().unwrap()),
            "waiting" => waits = true,
            _ => {}
        }
        runs.is_some() && waits
    })
    .await;
    steering.steer("do the other\u{1b} thing first");
    sessions(&mut events, "cancelled", 3).await;
    assert!(events.try_next().is_none(), "an event after steering");
    own.cancel();
    for (at, reply) in batch.await.unwrap().iter().enumerate() {
        assert_eq!(reply.outcome(), Outcome::Cancelled);
        assert_eq!(reply.code, if Some(at) == runs { Code::Cancelled } else { Code::Superseded }, "{at}");
        assert_eq!(Some(at) == runs, !reply.usage.run.wall.is_zero());
        assert_eq!(Some(at) != runs, reply.message.contains("do the other\\u{1b} thing first"), "{}", reply.message);
    }
    assert_eq!(outcomes(&host).len(), 4);
    assert_verifies(&host);
}

/// A batch that is steered before it begins runs nothing and creates no approval request.
#[tokio::test]
async fn a_batch_that_is_steered_before_it_begins_runs_nothing() {
    let desk = Desk::new().with_asked();
    let person = Scripted::new([Answer::Yes]);
    let host = desk.builder().approver(Arc::new(person.clone())).open().await.unwrap();
    let steering = Steering::new();
    steering.steer("");
    let replies = host.batch(Batch::new(requests(&["good", "asked", "good"])).steering(steering)).await;
    assert_eq!(codes(&replies), [Code::Superseded; 3]);
    assert!(person.asked().is_empty());
    assert!(outcomes(&host).iter().all(|outcome| outcome["code"] == "superseded"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_a_batch_ends_running_and_waiting_calls() {
    let desk = Desk::new().with("sleep-in-execute").with_asked();
    let host = desk.builder().approver(Gate::closed()).open().await.unwrap();
    let mut events = host.events();
    let cancellation = Cancellation::new();
    let mut names = ["sleep-in-execute"; 6];
    names[5] = "asked";
    let batch = Batch::new(requests(&names)).at_once(2).cancellation(cancellation.clone());
    let batch = spawn(&host, batch);
    sessions(&mut events, "running", 2).await;
    cancellation.cancel();
    let replies = batch.await.unwrap();
    assert_eq!(codes(&replies), [Code::Cancelled; 6]);
    let ran = replies.iter().filter(|reply| !reply.usage.run.wall.is_zero()).count();
    assert_eq!(ran, 2, "waiting calls must not run");
    assert_verifies(&host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_one_call_does_not_affect_the_others() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open().await;
    let mut events = host.events();
    let own = Cancellation::new();
    let mut all = requests(&["sleep-in-execute", "good", "good"]);
    all[0] = all[0].clone().cancellation(own.clone());
    let batch = spawn(&host, Batch::new(all));
    sessions(&mut events, "completed", 2).await;
    own.cancel();
    assert_eq!(codes(&batch.await.unwrap()), [Code::Cancelled, Code::Completed, Code::Completed]);
}

/// Every call of a dropped batch is stopped and recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_batch_drops_its_calls() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.open().await;
    let mut events = host.events();
    tokio::select! {
        replies = host.batch(Batch::new(requests(&["sleep-in-execute"; 5])).at_once(2)) => panic!("{replies:?}"),
        _ = sessions(&mut events, "running", 2) => {}
    }
    let mut ended = sessions(&mut events, "cancelled", 5).await;
    ended.sort();
    assert_eq!(ended, ["0", "1", "2", "3", "4"]);
    assert!(outcomes(&host).iter().all(|outcome| outcome["outcome"] == "cancelled"));
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert_verifies(&host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn surplus_requests_are_rejected_with_a_message() {
    let desk = Desk::new();
    let host = desk.open().await;
    let replies = host.batch(Batch::new(requests(&vec!["nothing"; BATCH_REQUESTS_MAX + 3]))).await;
    let (looked_at, surplus) = replies.split_at(BATCH_REQUESTS_MAX);
    assert!(looked_at.iter().all(|reply| reply.code == Code::UnknownTool));
    assert_eq!(codes(surplus), [Code::Busy; 3]);
    assert!(surplus[0].message.contains("1000"), "{}", surplus[0].message);
    assert_eq!(outcomes(&host).len(), BATCH_REQUESTS_MAX + 3);
}

/// A concurrency limit above the host's run slots does not cause calls to be rejected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_uses_at_most_the_hosts_run_slots() {
    let desk = Desk::new().with_naps();
    let host = desk.site.builder(&portcullis_tests::allow_all("time = \"1 s\"")).calls(1).open().await.unwrap();
    let mut events = host.events();
    let replies = host.batch(Batch::new(requests(&["reader"; 20])).at_once(usize::MAX)).await;
    assert_eq!(codes(&replies), [Code::Completed; 20]);
    let mut running = Running::default();
    std::iter::from_fn(|| events.try_next()).for_each(|event| running.hear(&event));
    assert_eq!(running.most, 1);
}

/// A failure of one call does not affect the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approver_that_panics_ends_only_its_own_call() {
    struct Panics;
    impl Approver for Panics {
        fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
            panic!("the approver of a test")
        }
    }
    let desk = Desk::new().with_asked();
    let host = desk.builder().approver(Arc::new(Panics)).open().await.unwrap();
    let replies = host.batch(Batch::new(requests(&["good", "asked", "good"]))).await;
    assert_eq!(codes(&replies), [Code::Completed, Code::ApprovalDenied, Code::Completed]);
    assert_eq!(replies[1].tool, "asked.run");
    assert_eq!(outcomes(&host).len(), 3);
    assert_verifies(&host);
}
