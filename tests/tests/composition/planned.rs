//! One approval request for many calls: a person reads all of them, approves all, some or none. Each approval counts
//! once, for exactly the call that was read.

use crate::composition::desk::inner_outcomes;
use crate::composition::script::{POLICY, run, site};
use portcullis::approvals::{CallSelection, Scripted, Subject};
use portcullis::{Answer, Code, Host};
use portcullis_tests::{Site, assert_verifies};
use std::fs;
use std::sync::Arc;

/// Writes 40 files one after the other, and returns the errors.
const FORTY_WRITES: &str = r#"
    const errors = [];
    for (let n = 0; n < 40; n++) {
        try { await tools.files.write({ path: `out-${n}.txt`, content: `number ${n}\n` }); }
        catch (error) { errors.push(`${n}: ${error.name}: ${error.message}`); }
    }
    return errors;
"#;

struct PlannedRun {
    site: Site,
    host: Host,
    approver: Arc<Scripted>,
}

impl PlannedRun {
    async fn open(answers: impl IntoIterator<Item = Answer>) -> Self {
        let site = site();
        let approver = Arc::new(Scripted::new(answers));
        let host = site.builder(POLICY).approver(Arc::clone(&approver) as _).open().await.unwrap();
        Self { site, host, approver }
    }

    /// Returns the numbers of the files that were written.
    fn written(&self) -> Vec<usize> {
        (0..60).filter(|number| self.site.path(format!("work/out-{number}.txt")).exists()).collect()
    }

    /// Returns how many calls each request was about.
    fn asked(&self) -> Vec<usize> {
        self.approver.asked().iter().map(|question| question.selectable_calls().unwrap_or(1)).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_of_40_writes_is_one_request_with_their_exact_arguments_and_differences() {
    let planned = PlannedRun::open([Answer::Yes]).await;
    let reply = run(&planned.host, FORTY_WRITES).await;
    assert_eq!((reply.code, reply.message.trim()), (Code::Completed, "[]"));
    assert_eq!(planned.asked(), [40]);
    let question = &planned.approver.asked()[0];
    let Subject::Calls(calls) = &question.subject else { panic!("{question:?}") };
    for (number, call) in calls.iter().enumerate() {
        let exact = format!("{{\"content\":\"number {number}\\n\",\"path\":\"out-{number}.txt\"}}");
        assert_eq!((call.tool.to_string().as_str(), &call.arguments), ("files.write", &exact));
        assert!(question.arguments.contains(&exact), "{}", question.arguments);
        assert_eq!(call.name(), format!("files.write out-{number}.txt"));
        let difference = question.difference.as_deref().unwrap();
        assert!(difference.contains(&format!("+number {number}\n")), "{difference}");
    }
    assert_eq!(question.tool.to_string(), "script.run");
    assert_eq!(question.planned_calls().as_deref(), Some("make 40 calls of files.write"));
    assert!(question.handles.iter().any(|handle| handle.contains("work")), "{:?}", question.handles);
    assert_eq!(planned.written(), (0..40).collect::<Vec<_>>());
    let outcomes = inner_outcomes(&planned.host);
    assert_eq!(outcomes.iter().filter(|outcome| outcome["tool"] == "files.write").count(), 40);
    assert_verifies(&planned.host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_the_calls_can_be_approved() {
    let calls = CallSelection::parse("1-3, 7", 40).unwrap();
    let note = Some("only the first ones".to_owned());
    let planned = PlannedRun::open([Answer::Part { calls, note }]).await;
    let reply = run(&planned.host, FORTY_WRITES).await;
    assert_eq!(planned.written(), [0, 1, 2, 6]);
    assert_eq!(planned.asked(), [40], "a call that was left out is not asked about again");
    assert!(
        reply.message.contains("39: Denied:") && reply.message.contains("only the first ones"),
        "{}",
        reply.message
    );
    assert_verifies(&planned.host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_is_for_all_of_them_and_nobody_is_asked_again() {
    let planned = PlannedRun::open([Answer::No { note: Some("not now".to_owned()) }]).await;
    let reply = run(&planned.host, FORTY_WRITES).await;
    assert_eq!((planned.written(), planned.asked()), (Vec::new(), vec![40]));
    assert!(reply.message.contains("not now"), "{}", reply.message);
}

/// The script writes one more file once it sees that the first ones are there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_not_in_the_request_asks_again() {
    let planned = PlannedRun::open([Answer::Yes, Answer::No { note: None }]).await;
    let code = format!(
        "{} const there = await tools.files.glob({{ pattern: 'out-*' }});
         if (there.includes('out-39')) await tools.files.write({{ path: 'out-50.txt', content: 'x' }});",
        FORTY_WRITES.replace("return errors;", "")
    );
    let reply = run(&planned.host, &code).await;
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
    assert_eq!(planned.asked(), [40, 1]);
    assert_eq!(planned.written(), (0..40).collect::<Vec<_>>());
}

/// The second write depends on the answer to the first one, which the plan does not know.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_is_for_exactly_the_arguments_that_were_read() {
    let planned = PlannedRun::open([Answer::Yes, Answer::No { note: None }]).await;
    let code = "const said = await tools.files.write({ path: 'out-1.txt', content: 'x' });
        await tools.files.write({ path: said ? 'out-2.txt' : 'out-3.txt', content: 'x' });";
    run(&planned.host, code).await;
    let asked = planned.approver.asked();
    assert_eq!(planned.asked(), [2, 1]);
    assert!(asked[0].arguments.contains("out-3.txt") && asked[1].arguments.contains("out-2.txt"), "{asked:?}");
    assert_eq!(planned.written(), [1]);
}

/// The plan sees two equal writes. The third comes only in the real run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_approval_counts_once() {
    let planned = PlannedRun::open([Answer::Yes, Answer::No { note: None }]).await;
    let code = "let said = ''; for (let n = 0; n < 2; n++) said = await tools.files.write({ path: 'out-1.txt', content: 'x' });
        if (said) await tools.files.write({ path: 'out-1.txt', content: 'x' });";
    let reply = run(&planned.host, code).await;
    assert_eq!(planned.asked(), [2, 1], "{}", reply.message);
    assert_eq!(reply.code, Code::ToolFailed, "{}", reply.message);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_selection_is_refused_for_a_request_about_one_call() {
    let site = site();
    let host = site.builder(POLICY).answered_elsewhere().open().await.unwrap();
    let call = tokio::spawn({
        let host = host.clone();
        async move { run(&host, "await tools.files.write({ path: 'out-1.txt', content: 'x' })").await }
    });
    let open = loop {
        let listing = host.approvals().list().await.unwrap();
        if let Some(open) = listing.questions.into_iter().next() {
            break open;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    let calls = CallSelection::parse("1", 1).unwrap();
    let answered = host.approvals().answer(&open.id, &Answer::Part { calls, note: None }).await;
    assert!(answered.is_err(), "{answered:?}");
    host.approvals().answer(&open.id, &Answer::Yes).await.unwrap();
    assert_eq!(call.await.unwrap().code, Code::Completed);
    assert_eq!(fs::read_to_string(site.path("work/out-1.txt")).unwrap(), "x");
}
