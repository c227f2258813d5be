//! Hostile texts of plugins, models and callers, in every page that shows them: encoded, whole, and never cut without a
//! sign.

use crate::console::desk::{ConsoleDesk, echo, site_with};
use portcullis::Request;
use portcullis::approvals::Status;
use portcullis::policy::Principal;
use portcullis::text::is_deceptive;
use portcullis_tests::Manifest;
use serde_json::json;

/// Markup, escapes and invisible characters.
const EVIL: &str =
    "</code><script>alert(1)</script><img src=x onerror=alert(1)>\"'`\u{1b}[2J\u{202e}\u{200b}\r\n\u{85}&lt;b&gt;";

/// Asserts that a page has no markup of a guest and no character that deceives.
#[track_caller]
fn assert_harmless(page: &str) {
    for markup in ["<script>alert", "<img", "</code><script", "onerror=alert(1)>\""] {
        assert!(!page.contains(markup), "{markup}: {page}");
    }
    let deceptive: Vec<char> =
        page.chars().filter(|character| is_deceptive(*character) && *character != '\n').collect();
    assert!(deceptive.is_empty(), "{deceptive:?}: {page}");
}

#[tokio::test]
async fn texts_of_a_plugin_and_a_model_are_encoded_in_every_page() {
    let manifest = Manifest::of("evil").tool(|tool| tool.description = "A tool. <script>alert(1)</script>".to_owned());
    let desk = ConsoleDesk::with(site_with(&manifest)).await;
    let signed_in = desk.sign_in().await;
    let arguments = json!({ EVIL: EVIL, "path": EVIL }).to_string();
    let request = Request::new("evil.run", arguments.clone()).session(EVIL).agent(EVIL);
    let (id, call) = desk.ask(request).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await.is(200);
    assert_harmless(&page.body);
    assert!(page.body.contains("The arguments contain") && page.body.contains("invisible character"), "{}", page.body);
    assert!(page.body.contains("\\u{202e}") || page.body.contains("\\\\u202e"), "{}", page.body);
    signed_in.answer(&id, "deny", &[("note", EVIL)]).await.is(303);
    call.await.unwrap();
    for target in ["/inbox", "/log", "/live", "/tools", "/remembered", "/policy"] {
        assert_harmless(&signed_in.get(target).await.body);
    }
    let log = signed_in.get("/log").await.body;
    let call = log.split("href=\"/log/").nth(1).unwrap().split('"').next().unwrap();
    assert_harmless(&signed_in.get(&format!("/log/{call}")).await.body);
    assert_harmless(&signed_in.get(&format!("/policy?call={call}")).await.body);
    assert_harmless(&signed_in.get("/log?q=%3Cscript%3Ealert(1)%3C/script%3E&tool=%22%3E%3Cimg").await.body);
    let csrf = signed_in.get("/policy").await.field("csrf");
    for (tool, arguments) in [(EVIL, "{}"), ("evil.run", arguments.as_str()), ("evil.run", EVIL)] {
        let fields = [("csrf", csrf.as_str()), ("tool", tool), ("arguments", arguments), ("session", EVIL)];
        assert_harmless(&signed_in.post("/policy/explain", &fields).await.is(200).body);
    }
}

/// Arguments of a megabyte: the first page has no button to approve, and the whole page has every byte.
#[tokio::test]
async fn a_request_that_is_cut_cannot_be_approved() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let arguments = json!({ "a": "x".repeat(900 * 1024), "z": "rm -rf /" }).to_string();
    let (id, call) = desk.ask(Request::new("good.run", arguments)).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await.is(200);
    assert!(!page.body.contains("value=\"approve\""), "a page that is cut must have no button to approve");
    assert!(page.body.contains("Part of the request is not shown"));
    assert!(page.body.len() < 200 * 1024, "{}", page.body.len());
    // Its form approves nothing either.
    signed_in.answer(&id, "approve", &[]).await.is(303);
    assert_eq!(desk.status(&id).await, Status::Pending);
    let whole = signed_in.get(&format!("/inbox/{id}?show=all")).await.is(200);
    assert!(whole.body.contains(&"x".repeat(900 * 1024)) && whole.body.contains("rm -rf /"));
    let (csrf, request) = (whole.field("csrf"), whole.field("request"));
    signed_in.post("/inbox/answer", &[("csrf", &csrf), ("request", &request), ("answer", "approve")]).await.is(303);
    assert_eq!(call.await.unwrap().code.as_str(), "completed");
}

/// Blanks cannot push the harmful end of a text off the screen.
#[tokio::test]
async fn long_runs_of_blanks_are_counted() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, _call) = desk.ask(Request::json("good.run", &json!({ "path": format!("a{}b", " ".repeat(1500)) }))).await;
    let page = signed_in.get(&format!("/inbox/{id}")).await.is(200).body;
    assert!(page.contains("a[1500 blanks]b"), "{page}");
    assert!(!page.contains(&" ".repeat(100)), "{page}");
}

/// Without a difference that shows the effect, the arguments are open.
#[tokio::test]
async fn arguments_are_open_unless_a_difference_shows_the_effect() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (plain, _call) = desk.ask(echo(1)).await;
    let page = signed_in.get(&format!("/inbox/{plain}")).await.body;
    assert!(page.contains("<details open><summary>Arguments"), "{page}");
    let (shown, _call) = desk.ask(crate::console::desk::write("a.txt", "one\n")).await;
    let page = signed_in.get(&format!("/inbox/{shown}")).await.body;
    assert!(page.contains("<details><summary>Arguments"), "{page}");
    assert!(page.contains("as the plugin computes it"), "{page}");
}

/// A principal is a name, so a hostile one never reaches a page.
#[test]
fn a_principal_is_a_name() {
    assert!(EVIL.parse::<Principal>().is_err());
}
