//! Documents that others wrote. Each operation is a tool that the host accepts, or is listed with the reason.

use crate::openapi::desk::{policy_of, refusal, site, tools};
use portcullis::{Host, Request};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The variable with the folder of the documents. `cargo xtask test` sets it.
const VARIABLE: &str = "PORTCULLIS_TEST_OPENAPI";

/// The variable that makes the test write the counts instead of comparing them.
const WRITE: &str = "PORTCULLIS_WRITE_OPENAPI";

/// Documents without an absolute URL of a server.
const WITHOUT_SERVER: [&str; 2] = ["docker.json", "kubernetes.json"];

/// The documents that YAML and JSON have.
const TWINS: [&str; 3] = ["petstore", "star-trek", "train-travel"];

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

fn folder() -> PathBuf {
    let folder =
        env::var_os(VARIABLE).unwrap_or_else(|| panic!("{VARIABLE} is not set: run `cargo xtask test openapi`"));
    PathBuf::from(folder)
}

/// Opens a host with a document, under the settings that the document needs.
async fn opened(file: &str, settings: &str) -> (portcullis_tests::Site, Host) {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let server = Server::plain(Behaviour::ok());
    let site = site(file, &text);
    let base = if WITHOUT_SERVER.contains(&file) { "server = \"https://api.example\"" } else { "" };
    let settings = [&format!("document = \"{file}\""), base, settings];
    let settings: Vec<&str> = settings.into_iter().filter(|setting| !setting.is_empty()).collect();
    let policy = policy_of(&server, &settings.join(", "), "memory = \"256 MiB\"");
    let host = site.open(&policy).await;
    (site, host)
}

/// Returns what the tool `operations` says of each operation: its tool, or the reason why it has none.
async fn listed(host: &Host) -> BTreeMap<String, Result<String, String>> {
    let (mut operations, mut start) = (BTreeMap::new(), 0);
    loop {
        let arguments = format!("{{\"start\":{start}}}");
        let reply = host.call(Request::new("openapi.operations", arguments)).await;
        assert_eq!(reply.code, portcullis::Code::Completed, "{}", reply.message);
        for line in reply.message.lines().filter(|line| !line.starts_with('(')) {
            let (operation, entry) = match line.strip_prefix("skipped: ") {
                Some(skipped) => {
                    skipped.split_once(": ").map(|(operation, why)| (operation, Err(why.to_owned()))).unwrap()
                }
                None => line.split_once(": ").map(|(tool, operation)| (operation, Ok(tool.to_owned()))).unwrap(),
            };
            assert!(operations.insert(operation.to_owned(), entry).is_none(), "{line}");
        }
        if !reply.message.contains(" more; continue with `start` ") {
            return operations;
        }
        start += 200;
    }
}

/// Returns the operations of a document in JSON, counted without the plugin.
fn counted(file: &str) -> BTreeSet<String> {
    let text = fs::read(folder().join(file)).unwrap();
    let document: Value = serde_json::from_slice(&text).unwrap();
    let mut operations = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in METHODS.iter().filter(|method| item.get(**method).is_some()) {
            operations.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    operations
}

/// Returns the counts of a document as text.
async fn report(file: &str) -> String {
    let (_site, host) = opened(file, "").await;
    if host.catalog().plugin("openapi").is_none() {
        return format!("{file}: refused: {}\n", refusal(&host));
    }
    let operations = listed(&host).await;
    if Path::new(file).extension().is_some_and(|extension| extension == "json") {
        assert_eq!(operations.keys().cloned().collect::<BTreeSet<_>>(), counted(file), "{file}");
    }
    let made: BTreeSet<String> = operations.values().filter_map(|entry| entry.clone().ok()).collect();
    let accepted: BTreeSet<String> = tools(&host).into_iter().filter(|tool| tool != "operations").collect();
    assert_eq!(made, accepted, "{file}");
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in operations.values().filter_map(|entry| entry.as_ref().err()) {
        *reasons.entry(reason).or_default() += 1;
    }
    let mut text = format!("{file}: {} operations, {} tools\n", operations.len(), made.len());
    for (reason, count) in reasons {
        let _ = writeln!(text, "  {count}: {reason}");
    }
    text
}

#[tokio::test]
async fn every_operation_is_a_tool_or_is_listed_with_the_reason() {
    let mut files: Vec<String> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let mut found = String::new();
    for file in &files {
        found += &report(file).await;
    }
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/openapi.txt");
    if env::var_os(WRITE).is_some() {
        fs::write(&expected, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(expected).unwrap_or_default());
}

#[tokio::test]
async fn yaml_and_json_make_the_same_definitions() {
    for name in TWINS {
        let mut definitions = Vec::new();
        for extension in ["json", "yaml"] {
            let (_site, host) = opened(&format!("{name}.{extension}"), "").await;
            let catalog = host.catalog();
            let plugin = catalog.plugin("openapi").unwrap_or_else(|| panic!("{}", refusal(&host)));
            let tools: Vec<String> = plugin
                .tools()
                .map(|tool| format!("{} {} {}", tool.name(), tool.description(), tool.schema().document()))
                .collect();
            definitions.push(tools);
        }
        assert_eq!(definitions[0], definitions[1], "{name}");
    }
}

#[tokio::test]
async fn a_part_of_a_document_with_too_many_operations_can_be_selected() {
    let (_site, host) = opened("autotask.json", "").await;
    assert!(refusal(&host).contains("the document has 2958 operations, but a plugin can make at most 2000 tools"));
    let (_site, host) = opened("autotask.json", "tags = \"Tickets\"").await;
    assert!(tools(&host).len() > 5, "{:?}", tools(&host));
}
