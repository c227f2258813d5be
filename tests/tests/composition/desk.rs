//! A site with a guest that calls other tools, and with tools for it to call.

use crate::approvals::desk::{marks, marks_manifest};
use portcullis::plugins::Contract;
use portcullis::{Code, Host, HostBuilder, Reply, Request};
use portcullis_tests::{BlockOn, Manifest, Site, built_guest_of, guest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// Allows every call.
pub(crate) const ALLOW: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// Allows the calling tool, and asks about the tool that leaves marks.
pub(crate) const ASK_MARKS: &str = "[[rule]]\ntool = \"{relay,good}.*\"\ndecision = \"allow\"\n\
                                    [[rule]]\ntool = \"marks.*\"\ndecision = \"ask\"\n";

/// Lets the guest call every tool.
pub(crate) const EVERY_TOOL: &str = r#"{ tools = ["*.*"], calls = 100, depth = 4 }"#;

/// A site whose plugin `relay` calls what it is told to.
pub(crate) struct Desk {
    pub(crate) site: Site,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { site: Site::new() };
        desk.site.plugin("relay", &built_guest_of(Contract::V0_2, "relay"));
        desk.site.plugin("marks", &marks(&marks_manifest("marks")));
        desk.site.directory("work");
        desk
    }

    /// Adds a guest.
    pub(crate) fn with(self, name: &str) -> Self {
        self.site.plugin(name, &guest(name, &Manifest::of(name)));
        self
    }

    /// Returns a builder with these rules, and with this binding of the guest's key.
    pub(crate) fn builder(&self, rules: &str, tools: &str) -> HostBuilder {
        self.site.builder(&policy(rules, tools))
    }

    pub(crate) async fn open(&self, rules: &str, tools: &str) -> Host {
        self.builder(rules, tools).open().await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns how often the tool that leaves marks has run, by its arguments.
    pub(crate) fn marks(&self) -> BTreeMap<String, usize> {
        let entries = fs::read_dir(self.site.path("work")).unwrap().map(|entry| entry.unwrap());
        let mark = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap().lines().count())
        };
        entries.map(mark).collect()
    }
}

/// Builds a policy with these rules and this binding.
pub(crate) fn policy(rules: &str, tools: &str) -> String {
    format!(
        "[approvals]\nrepeats = 1000000\n[limits]\ntime = \"20 s\"\n[plugin.relay]\ntools.tools = {tools}\n\
         [plugin.marks]\ndirectory.work = {{ path = \"work\", access = \"read-write\" }}\n{rules}"
    )
}

/// Builds one call for the guest to make.
pub(crate) fn wanted(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

/// Builds a call of the guest that makes these calls one after the other.
pub(crate) fn relays(calls: &[Value]) -> Request {
    Request::new("relay.run", json!({ "calls": calls }).to_string())
}

/// Builds a call of the guest that makes these calls at the same time.
pub(crate) fn together(calls: &[Value]) -> Request {
    Request::new("relay.run", json!({ "calls": calls, "together": true }).to_string())
}

/// Builds calls of the guest within one another, around this one.
pub(crate) fn nested(levels: usize, innermost: Value) -> Value {
    (0..levels).fold(innermost, |inner, _| wanted("relay.run", &json!({ "calls": [inner] })))
}

/// Returns the answers of a completed call.
pub(crate) fn answers(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    serde_json::from_str(&reply.message).unwrap()
}

/// Makes calls one after the other. Returns their answers.
pub(crate) async fn relayed(host: &Host, calls: &[Value]) -> Vec<Value> {
    answers(&host.call(relays(calls)).await)
}

/// Returns the only answer of a call of the guest within another one.
pub(crate) fn innermost(answer: &Value) -> &Value {
    let mut answer = answer;
    while let Some([inner]) = answer["json"].as_array().map(Vec::as_slice) {
        answer = inner;
    }
    answer
}

/// Returns what is recorded of each call that a tool made and that has ended: the decision and the outcome in one
/// object, in the order of their ends.
pub(crate) fn inner_outcomes(host: &Host) -> Vec<Value> {
    let (mut begun, mut outcomes) = (BTreeMap::new(), Vec::new());
    let read = host
        .audit()
        .read(|entry| {
            let document = entry.document.as_object().unwrap().clone();
            let Some(call) = document.get("call").and_then(Value::as_str).map(str::to_owned) else { return Ok(()) };
            let ended = document["kind"] == "outcome";
            let known: &mut serde_json::Map<String, Value> = begun.entry(call).or_default();
            known.extend(document);
            if ended && known.contains_key("parent") {
                outcomes.push(Value::Object(known.clone()));
            }
            Ok(())
        })
        .block_on();
    assert_eq!(read.unwrap().fault, None);
    outcomes
}
