//! A site with the keeper, and helpers to call it.

pub(crate) use crate::state::desk::results;
use portcullis::policy::Principal;
use portcullis::{Host, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest, outcome_of};
use serde_json::{Value, json};
use std::fs;

/// The setting under test.
pub(crate) const SESSION: &str = "[plugin.keeper]\ninstance = \"session\"\n";

/// Grants the workspace and another directory.
pub(crate) const DIRECTORIES: &str = "directory.workspace = { path = \"workspace\", access = \"read-write\" }\n\
                                      directory.other = { path = \"other\", access = \"read-write\" }\n";

/// Makes a site with the keeper under two names, and with files.
pub(crate) fn site() -> Site {
    let (site, bytes) = (Site::new(), built_guest("keeper"));
    site.plugin("keeper", &bytes);
    let (renamed, count) = portcullis_tests::renamed(&bytes, "keeper", "reaper");
    assert!(count > 0, "the guest does not name itself");
    site.plugin("reaper", &renamed);
    for directory in ["workspace", "other"] {
        let directory = site.directory(directory);
        for name in ["a", "b"] {
            fs::write(directory.join(name), name).unwrap();
        }
    }
    site.warm();
    site
}

/// Opens a host that allows every call, with more of a policy.
pub(crate) async fn open(site: &Site, more: &str) -> Host {
    site.open(&policy(more)).await
}

pub(crate) fn policy(more: &str) -> String {
    format!("{}{more}", allow_all("time = \"20 s\""))
}

/// Builds a step.
pub(crate) fn step(op: &str, text: &str) -> Value {
    json!({ "op": op, "text": text })
}

/// Builds the call of a tool in a session.
pub(crate) fn request(tool: &str, session: &str, steps: &[Value]) -> Request {
    Request::new(tool, json!({ "steps": steps }).to_string()).session(session)
}

/// Makes a call in the session `s`, and returns the result of each step.
pub(crate) async fn take(host: &Host, tool: &str, steps: &[Value]) -> Vec<Value> {
    results(&host.call(request(tool, "s", steps)).await)
}

/// Leaves a note in the memory of the instance of a session. Returns all the notes there.
pub(crate) async fn note_in(host: &Host, session: &str, principal: &str, text: &str) -> Value {
    let principal: Principal = principal.parse().unwrap();
    let request = request("keeper.think", session, &[step("note", text)]).principal(principal);
    results(&host.call(request).await).remove(0)
}

/// Does the same in the session `s` of one principal.
pub(crate) async fn note(host: &Host, text: &str) -> Value {
    note_in(host, "s", "ada", text).await
}

/// Returns how many calls the instance of a call had run before, as the audit log says.
pub(crate) fn earlier_calls(host: &Host, reply: &Reply) -> Value {
    outcome_of(host, &reply.id)["earlier_calls"].clone()
}
