//! Answers: bound to what the page showed, counted once, and run where the call belongs.

use crate::console::desk::{ConsoleDesk, SignedIn, echo, write};
use crate::guard::ask::PATIENCE;
use portcullis::approvals::Status;
use portcullis::{Answer, Request};
use portcullis_tests::eventually_async;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::timeout;

/// The longest time from a request to its event that a person does not notice, with room for a busy machine.
const NOTICED: Duration = Duration::from_secs(2);

#[tokio::test]
async fn an_approved_call_runs_and_a_denied_one_gets_the_reason() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, call) = desk.ask(echo(1)).await;
    signed_in.answer(&id, "approve", &[]).await.is(303);
    assert_eq!(call.await.unwrap().code.as_str(), "completed");
    // A page that brings itself up to date does not take what the next page of the person shows.
    let refresh = signed_in.request("GET", "/policy").with("X-Portcullis-Refresh", "1");
    assert!(!refresh.send(desk.address()).await.is(200).body.contains("Approved."));
    assert!(signed_in.told().await.contains("Approved."));
    let (id, call) = desk.ask(echo(2)).await;
    signed_in.answer(&id, "deny", &[("note", "use the other tool")]).await.is(303);
    let reply = call.await.unwrap();
    assert_eq!(reply.code.as_str(), "approval-denied");
    assert!(reply.message.contains("use the other tool"), "{}", reply.message);
}

#[tokio::test]
async fn a_call_whose_process_has_ended_runs_in_the_console_once() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let id = desk.leave_behind(write("note.txt", "from the console\n")).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await;
    assert!(page.body.contains("its process has ended, so the call runs here"), "{}", page.body);
    let response = signed_in.answer(&id, "approve", &[]).await.is(303);
    assert_eq!(response.header("Location"), Some(format!("/inbox/{id}").as_str()));
    let written = || fs::read_to_string(desk.site.path("work/note.txt")).ok();
    assert_eq!(eventually_async("the call writes the file", written).await, "from the console\n");
    let reply = timeout(PATIENCE, async {
        loop {
            let page = signed_in.get(&format!("/inbox/{id}")).await;
            if page.body.contains("data-standing=\"done ended\"") {
                return page.body;
            }
        }
    });
    let reply = reply.await.unwrap();
    assert!(reply.contains("completed"), "{reply}");
    signed_in.answer_again(&id).await;
    assert_eq!(desk.status(&id).await, Status::Done);
}

impl SignedIn {
    /// Approves a request that may be settled already, with the form of another one.
    async fn answer_again(&self, id: &str) {
        let csrf = self.get("/policy").await.field("csrf");
        let request = format!("{id}:{}", "0".repeat(64));
        self.post("/inbox/answer", &[("csrf", &csrf), ("request", &request), ("answer", "approve")]).await.is(303);
    }
}

/// The file changes between the page and the click, so the page no longer shows what would happen.
#[tokio::test]
async fn an_answer_to_what_was_shown_before_a_change_does_not_count() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    fs::write(desk.site.path("work/poem.txt"), "roses are red\n").unwrap();
    let (id, call) = desk.ask(write("poem.txt", "violets are blue\n")).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await.is(200);
    assert!(page.body.contains("roses are red") && page.body.contains("violets are blue"), "{}", page.body);
    fs::write(desk.site.path("work/poem.txt"), "someone was here\n").unwrap();
    let (csrf, request) = (page.field("csrf"), page.field("request"));
    let fields = [("csrf", csrf.as_str()), ("request", &request), ("answer", "approve")];
    let response = signed_in.post("/inbox/answer", &fields).await.is(303);
    assert_eq!(response.header("Location"), Some(format!("/inbox/{id}").as_str()));
    assert!(signed_in.told().await.contains("Changed since you looked"));
    assert_eq!(desk.status(&id).await, Status::Pending);
    // What is shown now can be approved.
    signed_in.answer(&id, "approve", &[]).await.is(303);
    assert_eq!(call.await.unwrap().code.as_str(), "completed");
}

#[tokio::test]
async fn a_proof_of_one_request_does_not_approve_another() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (one, _first) = desk.ask(echo(1)).await;
    let (other, _second) = desk.ask(echo(2)).await;
    let page = signed_in.get(&format!("/inbox/{one}")).await;
    let (csrf, proof) = (page.field("csrf"), page.field("request").split_once(':').unwrap().1.to_owned());
    for proof in [proof.as_str(), "", "0"] {
        let request = format!("{other}:{proof}");
        signed_in.post("/inbox/answer", &[("csrf", &csrf), ("request", &request), ("answer", "approve")]).await.is(303);
        assert!(signed_in.told().await.contains("Changed since you looked"));
    }
    assert_eq!(desk.status(&other).await, Status::Pending);
}

/// Two browsers, and the terminal: one answer counts, and everyone else learns what it was.
#[tokio::test]
async fn of_two_answers_one_counts_and_the_other_is_told() {
    let desk = ConsoleDesk::new().await;
    let browsers = [desk.sign_in().await, desk.sign_in().await];
    let (id, call) = desk.ask(echo(1)).await;
    let answers = ["approve", "deny"];
    let pages = [browsers[0].get(&format!("/inbox/{id}")).await, browsers[1].get(&format!("/inbox/{id}")).await];
    let mut racing = Vec::new();
    for ((browser, page), answer) in browsers.iter().zip(&pages).zip(answers) {
        let (csrf, request) = (page.field("csrf"), page.field("request"));
        let form = browser.form("/inbox/answer", &[("csrf", &csrf), ("request", &request), ("answer", answer)]);
        let address = desk.address();
        racing.push(tokio::spawn(async move { form.send(address).await.is(303) }));
    }
    for race in racing {
        race.await.unwrap();
    }
    let told = [browsers[0].told().await, browsers[1].told().await];
    let late = told.iter().filter(|told| told.contains("Your answer came second: it was already")).count();
    assert_eq!(late, 1, "{told:?}");
    let completed = call.await.unwrap().code.as_str() == "completed";
    assert_eq!(told[1].contains("already approved"), completed, "{told:?}");

    let (id, _call) = desk.ask(echo(2)).await;
    let page = browsers[0].get(&format!("/inbox/{id}")).await;
    desk.approvals().answer(&id, &Answer::No { note: None }).await.unwrap();
    let (csrf, request) = (page.field("csrf"), page.field("request"));
    browsers[0].post("/inbox/answer", &[("csrf", &csrf), ("request", &request), ("answer", "approve")]).await.is(303);
    assert!(browsers[0].told().await.contains("already denied"));
}

#[tokio::test]
async fn an_answer_for_longer_covers_what_its_offer_says() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, call) = desk.ask(write("src/a.txt", "one\n")).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await;
    let offers: Vec<&str> = page.body.split("<option value=\"").skip(1).collect();
    let place = offers.iter().find(|offer| offer.contains("src/**")).unwrap().split('"').next().unwrap().to_owned();
    signed_in.answer(&id, "approve", &[("remember", "always"), ("covers", &place)]).await.is(303);
    call.await.unwrap();
    // A call that it covers is not asked about.
    desk.host.call(write("src/b.txt", "two\n")).await;
    assert_eq!(fs::read_to_string(desk.site.path("work/src/b.txt")).unwrap(), "two\n");
    let page = signed_in.get("/remembered").await;
    assert!(page.body.contains("src/**"), "{}", page.body);
    let (csrf, held) = (page.field("csrf"), page.field("id"));
    signed_in.post("/remembered/revoke", &[("csrf", &csrf), ("id", &held)]).await.is(303);
    assert!(signed_in.told().await.contains("Revoked."));
    desk.ask(write("src/c.txt", "three\n")).await;

    for covers in ["99", "-1", "x"] {
        let (id, _call) = desk.ask(write(&format!("other/{covers}.txt"), "one\n")).await;
        signed_in.answer(&id, "approve", &[("remember", "always"), ("covers", covers)]).await.is(303);
        assert_eq!(desk.status(&id).await, Status::Pending, "{covers}");
    }
}

/// A hundred requests in one review: each is bound to its bytes, so one that changed is left out and the others run.
#[tokio::test]
async fn a_hundred_requests_are_reviewed_and_answered_together() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    for number in 0..99 {
        desk.leave_behind(echo(number)).await;
    }
    fs::write(desk.site.path("work/poem.txt"), "roses\n").unwrap();
    let changed = desk.leave_behind(write("poem.txt", "violets\n")).await;
    let review = signed_in.get("/inbox/review?id=all").await.is(200);
    let (csrf, requests) = (review.field("csrf"), review.fields("request"));
    assert_eq!(requests.len(), 100);
    for number in 0..99 {
        assert!(review.body.contains(&format!("&quot;n&quot;: {number}\n")), "{number} must be shown whole");
    }
    fs::write(desk.site.path("work/poem.txt"), "someone was here\n").unwrap();
    let mut fields = vec![("csrf", csrf.as_str()), ("answer", "approve")];
    fields.extend(requests.iter().map(|request| ("request", request.as_str())));
    signed_in.post("/inbox/answer", &fields).await.is(303);
    let told = signed_in.told().await;
    assert!(told.contains("99 requests approved") && told.contains("1 request: Changed since you looked"), "{told}");
    assert_eq!(desk.open().await.len(), 1);
    assert_eq!(desk.status(&changed).await, Status::Pending);
    let ran = timeout(PATIENCE, async {
        loop {
            let log = signed_in.get("/log?q=completed").await.body;
            let calls = log.split("Log <small>").nth(1).unwrap().split(' ').next().unwrap().to_owned();
            if calls == "99" {
                return calls;
            }
        }
    });
    ran.await.unwrap();
}

/// From the moment the request is in the ledger to its event on an open page.
#[tokio::test]
async fn a_request_reaches_an_open_page_without_a_noticeable_delay() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (_, stream) = signed_in.request("GET", "/events").open(desk.address()).await;
    let mut lines = BufReader::new(stream).lines();
    let mut pending = async || {
        loop {
            let line = lines.next_line().await.unwrap().expect("the stream stays open");
            if let Some(data) = line.strip_prefix("data: ") {
                let seen: Value = serde_json::from_str(data).unwrap();
                return seen["pending"].as_u64().unwrap();
            }
        }
    };
    while timeout(PATIENCE, pending()).await.unwrap() != 0 {}
    let mut longest = Duration::ZERO;
    for number in 1..=5 {
        let (host, began) = (desk.host.clone(), Instant::now());
        let call = tokio::spawn(async move { host.call(echo(number)).await });
        while timeout(PATIENCE, pending()).await.unwrap() != number as u64 {}
        longest = longest.max(began.elapsed());
        drop(call);
    }
    assert!(longest < NOTICED, "{longest:?}");
}

/// A request that runs in the middle of another call can only be answered while that call waits.
#[tokio::test]
async fn an_unknown_request_is_not_found_and_an_empty_form_answers_nothing() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    for id in ["0", "..", "%2e%2e", "<script>", &"f".repeat(32)] {
        let page = signed_in.get(&format!("/inbox/{}", id.replace('<', "%3C").replace('>', "%3E"))).await;
        assert_eq!(page.status, 404, "{id}");
    }
    let (id, call) = desk.ask(Request::new("good.run", "{}")).await;
    let csrf = signed_in.get("/policy").await.field("csrf");
    signed_in.post("/inbox/answer", &[("csrf", &csrf), ("answer", "approve")]).await.is(303);
    signed_in.post("/inbox/answer", &[("csrf", &csrf), ("request", &id)]).await.is(303);
    assert_eq!(desk.status(&id).await, Status::Pending);
    call.abort();
}
