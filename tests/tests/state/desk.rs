//! A site with the attacker under two names, and helpers to call it.

use portcullis::policy::Principal;
use portcullis::{Code, Compiler, Host, HostBuilder, Output, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest, outcome_of, place};
use serde_json::{Value, json};
use std::path::Path;

/// The plugins, which differ only in their name.
pub(crate) const ONE: &str = "state-one";
pub(crate) const TWO: &str = "state-two";

/// Grants the store `notes` to the first plugin, with these settings.
pub(crate) fn notes(quota: &str) -> String {
    format!("[plugin.state-one]\nstore.notes = {{ {quota} }}\n")
}

/// Makes a site with both plugins, which are compiled once for all tests.
pub(crate) async fn site() -> Site {
    let site = bare();
    site.warm();
    site
}

fn bare() -> Site {
    let (site, bytes) = (Site::new(), built_guest("state"));
    site.plugin(ONE, &bytes);
    site.plugin(TWO, &renamed(&bytes));
    site
}

/// Returns the same plugin with the second name.
fn renamed(bytes: &[u8]) -> Vec<u8> {
    let (renamed, count) = portcullis_tests::renamed(bytes, ONE, TWO);
    assert!(count > 0, "the guest does not name itself");
    renamed
}

/// Opens a host that allows every call, with this grant.
pub(crate) async fn open(site: &Site, grants: &str) -> Host {
    checked(site.open(&policy(grants)).await)
}

/// Opens a host of the site at a path.
pub(crate) async fn open_at(root: &Path, grants: &str) -> Host {
    let builder = Host::builder(root.join("plugins"), place(root.join("state"))).compiler(Compiler::InProcess);
    checked(builder.policy_text(&policy(grants), root).open().await.unwrap())
}

/// Returns a builder of a host that allows every call, with this grant.
pub(crate) fn builder(site: &Site, grants: &str) -> HostBuilder {
    site.builder(&policy(grants))
}

fn policy(grants: &str) -> String {
    format!("{}{grants}", allow_all("time = \"5 min\""))
}

fn checked(host: Host) -> Host {
    for name in [ONE, TWO] {
        if let Some(refusal) = host.catalog().refusal(name) {
            panic!("{name} was refused: {}", refusal.error);
        }
    }
    host
}

/// Makes a plugin perform steps. Any outcome is accepted.
pub(crate) async fn call(host: &Host, plugin: &str, steps: &Value) -> Reply {
    host.call(request(plugin, steps)).await
}

/// Makes the first plugin perform steps. Returns the result of each.
pub(crate) async fn take(host: &Host, steps: Value) -> Vec<Value> {
    results(&call(host, ONE, &steps).await)
}

/// Makes a plugin perform steps in a session of a principal.
pub(crate) async fn take_as(host: &Host, plugin: &str, session: &str, principal: &str, steps: Value) -> Vec<Value> {
    let principal: Principal = principal.parse().unwrap();
    results(&host.call(request(plugin, &steps).session(session).principal(principal)).await)
}

/// Returns what the first plugin prints and logs while it performs steps, from the audit log.
pub(crate) async fn printed(host: &Host, steps: Value) -> String {
    let reply = call(host, ONE, &steps).await;
    results(&reply);
    outcome_of(host, &reply.id)["printed"].as_str().unwrap_or_default().to_owned()
}

fn request(plugin: &str, steps: &Value) -> Request {
    Request::new(format!("{plugin}.run"), json!({ "steps": steps }).to_string())
}

/// Returns the result of each step of a call.
#[track_caller]
pub(crate) fn results(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let Some(Output::Json(text)) = &reply.output else { panic!("no JSON") };
    serde_json::from_str(text).unwrap()
}

/// Builds the result of a step that runs once.
pub(crate) fn ok(value: impl Into<Value>) -> Value {
    json!({"ok": value.into(), "times": 1})
}

/// Builds the result of a step that fails at its first attempt.
pub(crate) fn refused(error: &str) -> Value {
    json!({"error": error, "times": 0})
}

/// Builds a step that sets a key of the store `notes`.
pub(crate) fn set(key: &str, text: &str) -> Value {
    json!({"op": "set", "store": "notes", "key": key, "text": text})
}

/// Builds a step that gets a key of the store `notes`.
pub(crate) fn get(key: &str) -> Value {
    json!({"op": "get", "store": "notes", "key": key})
}

/// Builds a step that lists the store `notes`.
pub(crate) fn list() -> Value {
    json!({"op": "list", "store": "notes"})
}

/// Builds the result of a listing that contains the whole store.
pub(crate) fn all(keys: &[&str]) -> Value {
    ok(json!({"keys": keys, "cursor": null}))
}
