//! The pages that show what happened and what would happen.

use crate::console::desk::{ConsoleDesk, POLICY, echo, write};
use crate::guard::ask::PATIENCE;
use portcullis::Request;
use std::fs;
use tokio::time::timeout;

#[tokio::test]
async fn the_log_finds_calls_by_text_tool_decision_and_day() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, call) = desk.ask(echo(7)).await;
    signed_in.answer(&id, "approve", &[]).await.is(303);
    let reply = call.await.unwrap();
    let count = async |query: &str| {
        let page = signed_in.get(&format!("/log{query}")).await.is(200).body;
        page.split("Log <small>").nth(1).unwrap().split(' ').next().unwrap().to_owned()
    };
    for (query, calls) in [
        ("", "1"),
        ("?q=good", "1"),
        ("?q=nothing", "0"),
        ("?tool=good.run", "1"),
        ("?tool=other.run", "0"),
        ("?decision=ask", "1"),
        ("?decision=deny", "0"),
        ("?day=1999-01-01", "0"),
        ("?caller=local", "1"),
    ] {
        assert_eq!(count(query).await, calls, "{query}");
    }
    let page = signed_in.get(&format!("/log/{}", reply.id)).await.is(200).body;
    for part in ["good.run", "a person looks first", "decision", "answer", "outcome"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    signed_in.get("/log/unknown").await.is(200);
}

#[tokio::test]
async fn the_live_page_has_a_call_while_it_waits_and_after_it_ended() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, call) = desk.ask(echo(1)).await;
    // The feed follows the ledger: a page may still have the state before.
    let shows = async |number: usize, state: &str| {
        let shown = timeout(PATIENCE, async {
            loop {
                let page = signed_in.get("/live").await.is(200).body;
                if page.contains(&format!("Under way <small>{number}</small>")) && page.contains(state) {
                    return;
                }
            }
        });
        shown.await.unwrap_or_else(|_| panic!("{number} calls, {state}"));
    };
    shows(1, "waiting").await;
    signed_in.answer(&id, "approve", &[]).await.is(303);
    call.await.unwrap();
    shows(0, "completed").await;
}

#[tokio::test]
async fn a_live_call_opens_to_its_states_and_who_makes_it() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let request = write("src/a.txt", "one\n").session("7f3a90c2-aaaa").agent("claude-code");
    let (_id, _call) = desk.ask(request).await;
    let shown = timeout(PATIENCE, async {
        loop {
            let page = signed_in.get("/live").await.is(200).body;
            if let Some((_, row)) = page.split_once("<li data-call=")
                && row.contains("<dt>waiting</dt>")
            {
                return row.split("</li>").next().unwrap().to_owned();
            }
        }
    });
    let row = shown.await.unwrap();
    let (line, opened) = row.split_once("</summary>").unwrap();
    for part in ["<details>", "files.write", "src/a.txt", "claude-code", "waiting"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    let rest = ["<dt>pending</dt>", "<dt>path</dt><dd><code>src/a.txt", "<dt>agent</dt>", "<dd>local</dd>"];
    for part in rest.into_iter().chain(["7f3a90c2-aaaa", "datetime=", "href=\"/log/"]) {
        assert!(opened.contains(part), "{part}: {opened}");
    }
}

#[tokio::test]
async fn the_log_shows_the_calls_and_times_of_each_tool() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    for (tool, answer) in [("good.run", "approve"), ("good.run", "deny"), ("files.read", "deny")] {
        let (id, call) = desk.ask(Request::new(tool, r#"{"path":"a"}"#)).await;
        signed_in.answer(&id, answer, &[]).await.is(303);
        call.await.unwrap();
    }
    let by_tool = async |query: &str| {
        let page = signed_in.get(&format!("/log{query}")).await.is(200).body;
        page.split("Calls and time by tool").nth(1).unwrap().split("</figure>").next().unwrap().to_owned()
    };
    let all = by_tool("").await;
    let good = all.split("<th scope=\"row\">good.run</th>").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(good.contains("aria-label=\"0 allowed, 2 asked, 0 denied\""), "{good}");
    assert!(good.contains(" ms</td>"), "it ran once: {good}");
    let read = all.split("<th scope=\"row\">files.read</th>").nth(1).unwrap().split("</tr>").next().unwrap();
    assert!(read.contains("<td class=\"number\">–</td>"), "it never ran: {read}");
    let filtered = by_tool("?tool=files.read").await;
    assert!(filtered.contains("files.read") && !filtered.contains("good.run"), "{filtered}");
}

#[tokio::test]
async fn tools_have_their_handles_and_what_the_policy_decides() {
    let desk = ConsoleDesk::new().await;
    let page = desk.sign_in().await.get("/tools").await.is(200).body;
    for part in ["files", "read-write", "sha256", "contract", "ask", "good"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[tokio::test]
async fn the_policy_has_line_numbers_matches_and_explains_a_call() {
    let desk = ConsoleDesk::new().await;
    let signed_in = desk.sign_in().await;
    let (id, call) = desk.ask(echo(1)).await;
    signed_in.answer(&id, "approve", &[]).await.is(303);
    let reply = call.await.unwrap();
    let page = signed_in.get("/policy").await.is(200).body;
    let line = POLICY.lines().position(|line| line == "[[rule]]").unwrap() + 1;
    assert!(
        page.contains(&format!("id=\"line-{line}\"><i>{line}</i><small title=\"1 call\">1×</small>[[rule]]")),
        "{page}"
    );
    let csrf = signed_in.get(&format!("/policy?call={}", reply.id)).await;
    assert_eq!(csrf.field("tool"), "good.run");
    let csrf = csrf.field("csrf");
    let known = desk.open().await.len();
    let asked = [("csrf", csrf.as_str()), ("tool", "files.read"), ("arguments", "{\"path\":\"a\"}")];
    let explained = signed_in.post("/policy/explain", &asked).await.is(200).body;
    assert!(explained.contains("It would ask you.") && explained.contains("a person looks first"), "{explained}");
    let unknown = signed_in.post("/policy/explain", &[("csrf", &csrf), ("tool", "no.tool")]).await.is(200).body;
    assert!(unknown.contains("unknown-tool"), "{unknown}");
    assert_eq!(desk.open().await.len(), known, "explaining asks no one");
    fs::write(desk.site.path("policy.toml"), "not = [valid").unwrap();
    assert!(signed_in.get("/policy").await.is(200).body.contains("not = [valid"));
}
