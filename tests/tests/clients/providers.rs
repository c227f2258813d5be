//! Exports for model providers, and the messages around calls, validated with the providers' own types: every tool of
//! the corpus in every format, alone and with all others, and model responses with the results of their calls.

#[path = "providers/said.rs"]
mod said;

use crate::office::{DENYING, Office, succeeded};
use crate::script::script;
use portcullis::plugins::Offer;
use portcullis::{Batch, Caller, Host};
use portcullis_providers::{Definitions, Format};
use portcullis_tests::{Site, allow_all, built_guest, corpus};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output};

/// The providers' packages.
const PROVIDERS: &str = "PORTCULLIS_TEST_PYTHON_PROVIDERS";

/// Minimum number of schemas in the corpus.
const TOOLS_MIN: usize = 40;

/// The name of an export of all tools.
const EVERYTHING: &str = "everything";

/// The script, with its input.
fn judge(office: &Office, exported: &Value) -> Command {
    let file = office.path("exported.json");
    fs::write(&file, exported.to_string()).unwrap();
    script(office, PROVIDERS, "providers", &json!({ "exported": file }))
}

/// Returns what the judges report.
fn complaints(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Exports the tools of the corpus in every format: each alone, and all together.
async fn exports() -> Vec<Value> {
    let site = corpus::site();
    let host = site.open(&allow_all("")).await;
    let offers: Vec<_> = host.catalog().offers().collect();
    assert!(offers.len() >= TOOLS_MIN, "{} tools", offers.len());
    let alone = |offer: &Offer| (offer.tool.name().to_string(), Definitions::of([offer.clone()]).unwrap());
    let mut sets: Vec<_> = offers.iter().map(alone).collect();
    sets.push((EVERYTHING.to_owned(), Definitions::of(offers).unwrap()));
    let formats = Format::ALL.into_iter().flat_map(|format| sets.iter().map(move |set| (format, set)));
    let exported = |(format, (corpus, tools)): (Format, &(String, Definitions))| {
        let mut export = json!(tools.export(format));
        export["corpus"] = json!(corpus);
        export["offered"] = json!(tools.names().count());
        export
    };
    formats.map(exported).collect()
}

/// Hydrates model responses in every format, and returns them with the messages that contain the results.
async fn turns() -> Vec<Value> {
    let site = Site::new();
    site.plugin("clerk", &built_guest("clerk"));
    site.plugin("conformance", &built_guest("conformance"));
    site.directory("desk");
    let desk = "[plugin.clerk]\ndirectory.desk = { path = \"desk\", access = \"read-write\" }\n";
    let host = site.open(&(allow_all("") + desk)).await;
    let mut turns = Vec::new();
    for format in Format::ALL {
        for said in said::answers(format) {
            let results = results(&host, format, &said).await;
            turns.push(json!({ "format": format.as_str(), "said": said, "results": results }));
        }
    }
    turns
}

/// Returns the messages with the results of a response's calls.
async fn results(host: &Host, format: Format, answer: &Value) -> Vec<Value> {
    let definitions = Definitions::of_host(host).unwrap();
    let hydrated = definitions.hydrate(format, &answer.to_string(), host).unwrap();
    let replies = host.batch(Batch::new(hydrated.requests(&Caller::new()))).await;
    hydrated.results(&replies)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_providers_types_accept_exports_and_results() {
    let office = Office::new(DENYING);
    let exported = json!({ "exports": exports().await, "turns": turns().await });
    let judged = succeeded(&judge(&office, &exported).output().unwrap());
    assert_eq!(judged.lines().count(), Format::ALL.len(), "{judged}");
}

/// The judges must report a tool in another format's shape, a missing tool, and formats without input.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_judges_report_wrong_and_missing_input() {
    let office = Office::new(DENYING);
    let tool = json!({ "name": "box__open", "description": "Opens.", "input_schema": { "type": "object" } });
    let mut wrong = json!({ "format": "openai-responses", "corpus": "another shape", "tools": [tool] });
    wrong["offered"] = json!(2);
    let said = complaints(&judge(&office, &json!({ "exports": [wrong], "turns": [] })).output().unwrap());
    assert!(said.contains("openai-responses: another shape: /0/parameters: Field required"), "{said}");
    assert!(said.contains("openai-responses: only 1 of 2 tools"), "{said}");
    for format in Format::ALL {
        assert!(said.contains(&format!("{format}: no turns")), "{said}");
        assert_eq!(said.contains(&format!("{format}: no exports")), format != Format::OpenAiResponses, "{said}");
    }
}
