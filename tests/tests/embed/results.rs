//! The budget of a conversation's results: what is replaced, and that all of it can be read again.

use portcullis::outputs::Reader;
use portcullis::plugins::Contract;
use portcullis::policy::Principal;
use portcullis::{Code, Host, Output, Part, Reply, Request, ResultsBudget, TrimmedResult, estimate_tokens};
use portcullis_tests::{Site, allow_all, built_guest_of};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const BUDGET: u64 = 20_000;

const SESSION: &str = "chat-7";

fn site() -> Site {
    let site = Site::new();
    for (name, built) in [("scribe", "output"), ("relay", "relay")] {
        site.plugin(name, &built_guest_of(Contract::V0_2, built));
    }
    site
}

fn policy() -> String {
    "[plugin.relay]\ntools.tools = { tools = [\"*.*\"] }\n".to_owned()
        + &allow_all("output = \"64 KiB\"\ntime = \"60 s\"")
}

async fn open(site: &Site, budget: ResultsBudget) -> Host {
    site.builder(&policy()).results_budget(budget).open().await.unwrap()
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    host.call(Request::new(tool, arguments.to_string()).session(SESSION)).await
}

fn local() -> Principal {
    Principal::default()
}

/// The messages of a conversation, as an embedder holds them.
#[derive(Default)]
struct Messages(Vec<(String, String)>);

impl Messages {
    fn add(&mut self, reply: &Reply) {
        self.0.push((reply.id.clone(), reply.message.clone()));
        for trimmed in &reply.trimmed {
            let replaced = self.0.iter_mut().find(|(call, _)| *call == trimmed.call);
            replaced.unwrap().1.clone_from(&trimmed.text);
        }
    }

    fn tokens(&self) -> u64 {
        self.0.iter().map(|(_, text)| estimate_tokens(text)).sum()
    }
}

/// Returns the references that a text names.
fn references(text: &str) -> Vec<String> {
    let named = text.split("output.read {\"reference\":\"").skip(1);
    named.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

async fn bytes_of(host: &Host, id: &str) -> Vec<u8> {
    let principal = local();
    let reader = Reader { session: SESSION, principal: &principal };
    host.outputs().read(reader, id, 0, usize::MAX).await.unwrap()
}

fn trimmed(host: &Host) -> Vec<TrimmedResult> {
    host.results().conversation(Reader { session: SESSION, principal: &local() }).trimmed
}

/// An agent reads much more than fits. Every fifth result is already cut by the limit of a reply.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_of_large_reads_stays_under_the_budget_and_loses_nothing() {
    let site = site();
    let host = open(&site, ResultsBudget::tokens(BUDGET).newest(1)).await;
    let (mut messages, mut whole, mut read) = (Messages::default(), BTreeMap::new(), 0);
    for number in 0..30_u64 {
        let count = if number % 5 == 4 { 2000 } else { 300 + number };
        let reply = call(&host, "scribe.lines", json!({ "count": count, "bytes": 64 })).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        let text: String = (1..=count).map(|line| format!("{:.<63}\n", format!("line {line} "))).collect();
        assert_eq!(reply.reference.is_some(), count == 2000);
        read += estimate_tokens(&reply.message);
        whole.insert(reply.id.clone(), text);
        messages.add(&reply);
        assert!(messages.tokens() <= BUDGET, "{number}: {}", messages.tokens());
    }
    assert!(read > 3 * BUDGET, "{read}");
    let principal = local();
    let reader = Reader { session: SESSION, principal: &principal };
    let counted = host.results().conversation(reader);
    assert_eq!(counted.tokens, messages.tokens());
    assert!(counted.trimmed.len() > 15, "{}", counted.trimmed.len());
    for trimmed in &counted.trimmed {
        let [id]: [String; 1] = references(&trimmed.text).try_into().unwrap();
        assert!(bytes_of(&host, &id).await == whole[&trimmed.call].as_bytes(), "{}", trimmed.text);
        // A model reads it with the call that the text names.
        let page = call(&host, "output.read", json!({ "reference": id, "limit": 1 })).await;
        assert!(page.message.starts_with("     1\tline 1 ."), "{}", page.message);
        let stranger = Request::new("output.read", json!({ "reference": id }).to_string()).session(SESSION);
        let refused = host.call(stranger.principal("alice".parse().unwrap())).await;
        assert_eq!(refused.code, Code::ToolRejectedArguments, "{}", refused.message);
    }
    let alice: Principal = "alice".parse().unwrap();
    for reader in [Reader { session: SESSION, principal: &alice }, Reader { session: "other", principal: &principal }] {
        assert!(host.results().conversation(reader).trimmed.is_empty());
    }
    host.results().forget(reader);
    assert_eq!(host.results().conversation(reader).tokens, 0);
}

/// Short results, errors, requests for approval and the newest results stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_still_needs_is_not_replaced() {
    let site = site();
    let ask = "[[rule]]\ntool = \"scribe.overrun\"\ndecision = \"ask\"\n";
    let builder = site.builder(&format!("{}{ask}", policy())).results_budget(ResultsBudget::tokens(1).newest(2));
    let host = builder.open().await.unwrap();
    let long = "a failure that explains itself ".repeat(100);
    let failed = json!({ "pieces": [], "then": { "fail": long } });
    let mut replies = vec![
        call(&host, "scribe.lines", json!({ "count": 1, "bytes": 64 })).await,
        call(&host, "scribe.pieces", failed).await,
        call(&host, "scribe.overrun", json!({ "bytes": 1 })).await,
    ];
    for _ in 0..3 {
        replies.push(call(&host, "scribe.lines", json!({ "count": 300, "bytes": 64 })).await);
    }
    let codes: Vec<Code> = replies.iter().map(|reply| reply.code).collect();
    assert_eq!(codes[..4], [Code::Completed, Code::ToolFailed, Code::ApprovalPending, Code::Completed]);
    let replaced: Vec<String> = trimmed(&host).into_iter().map(|trimmed| trimmed.call).collect();
    assert_eq!(replaced, [replies[3].id.clone()]);
}

/// Every kind of answer is kept whole. Only the last call makes room for itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_parts_and_pages_can_be_read_again() {
    let site = site();
    let host = open(&site, ResultsBudget::tokens(1).newest(0)).await;
    let part = |media_type: &str, bytes: usize| json!({ "media_type": media_type, "bytes": bytes });
    let parts = json!({ "parts": [part("text/plain", 3000), part("image/png", 1000), part("text/csv", 2000)] });
    let reply = call(&host, "scribe.parts", parts).await;
    let ids = references(&reply.trimmed[0].text);
    assert_eq!((reply.trimmed.len(), ids.len()), (1, 3), "{:?}", reply.trimmed);
    let Some(Output::Parts(parts)) = &reply.output else { panic!("{}", reply.message) };
    for (part, id) in parts.iter().zip(&ids) {
        let bytes = match part {
            Part::Text(text) => text.as_bytes(),
            Part::Image(blob) | Part::File(blob) => &blob.data,
        };
        assert!(bytes_of(&host, id).await == bytes);
    }
    let image = call(&host, "output.read", json!({ "reference": ids[1] })).await;
    assert!(matches!(&image.output, Some(Output::Parts(parts)) if matches!(parts[0], Part::Image(_))));
    // A page of a kept output is not kept again.
    assert!(image.trimmed[0].text.contains("Make the same call of output.read"), "{:?}", image.trimmed);
    // An inner call is no result of the conversation. The answer of the tool that made it is one.
    let long = json!({ "calls": [{ "tool": "scribe.lines", "arguments": { "count": 300, "bytes": 64 } }] });
    let reply = call(&host, "relay.run", long).await;
    let [id]: [String; 1] = references(&reply.trimmed[0].text).try_into().unwrap();
    assert_eq!(bytes_of(&host, &id).await, reply.message.as_bytes());
    assert_eq!(trimmed(&host).len(), 3);
    let message = Reply::from(&reply.trimmed[0]);
    assert_eq!((message.id, message.message), (reply.id, reply.trimmed[0].text.clone()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_budget_nothing_is_counted_or_kept() {
    let site = site();
    let host = site.open(&policy()).await;
    for _ in 0..3 {
        let reply = call(&host, "scribe.lines", json!({ "count": 300, "bytes": 64 })).await;
        assert!(reply.code == Code::Completed && reply.trimmed.is_empty());
    }
    let principal = local();
    let reader = Reader { session: SESSION, principal: &principal };
    assert_eq!(host.results().conversation(reader).tokens, 0);
    assert!(host.outputs().list(reader).await.unwrap().is_empty());
}

/// A result that cannot be kept stays as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_without_room_among_the_kept_outputs_stays() {
    let site = site();
    let builder = site.builder(&policy()).outputs_bytes(1000).results_budget(ResultsBudget::tokens(1).newest(0));
    let host = builder.open().await.unwrap();
    let reply = call(&host, "scribe.lines", json!({ "count": 300, "bytes": 64 })).await;
    assert!(reply.code == Code::Completed && reply.trimmed.is_empty(), "{:?}", reply.trimmed);
}
