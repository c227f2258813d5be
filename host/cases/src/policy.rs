//! The policy of a case. It grants what the case lists, and nothing else.

use super::case::{CaseAccess, CaseDecision, CaseDirectory, Http, Scope, TestCase};
use anyhow::anyhow;
use portcullis::policy::{DependencyKey, Policy};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The limit of repeated calls before an approval is needed, more than any case makes.
const REPEATS: u32 = 1_000_000;

/// Maximum HTTP requests per minute of all cases. Cases make requests faster than people do.
const REQUESTS_PER_MINUTE: u32 = 10_000;

/// The default methods for the server of a case: all of them, because the server exists only for the case.
const METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// Stand-ins for a plugin, a directory and a server in a policy that is only checked.
const ANY_PLUGIN: &str = "plugin";
const ANY_DIRECTORY: &str = "/directory";
const ANY_SERVER: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 1);

/// The directories and servers that a case grants.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) directories: BTreeMap<DependencyKey, PathBuf>,
    pub(super) servers: BTreeMap<DependencyKey, SocketAddr>,
}

/// Checks that a case results in a valid policy. The error names the invalid member.
pub(super) fn check(case: &TestCase) -> anyhow::Result<()> {
    let directory = |key: &DependencyKey| (key.clone(), Path::new(ANY_DIRECTORY).join(key.as_str()));
    let server = |key: &DependencyKey| (key.clone(), SocketAddr::from(ANY_SERVER));
    let places = Places {
        directories: case.grants.directory.keys().map(directory).collect(),
        servers: case.grants.http.keys().map(server).collect(),
    };
    let Err(error) = Policy::parse(&compose(ANY_PLUGIN, case, &places)) else { return Ok(()) };
    // Leave out the position: it refers to the generated text, which the author never sees.
    let member = match error.key.strip_prefix(&format!("plugin.{ANY_PLUGIN}.")) {
        Some(grant) => format!("grants.{grant}"),
        None => error.key.clone(),
    };
    let place = if member.is_empty() { String::new() } else { format!("`{member}`: ") };
    Err(anyhow!("{place}{}; {}", error.fault, error.remedy()))
}

/// Generates the policy of a case.
pub(super) fn compose(plugin: &str, case: &TestCase, places: &Places) -> String {
    let mut text = format!("[approvals]\nrepeats = {REPEATS}\n[limits]\n");
    for (key, value) in &case.limits {
        line(&mut text, &quoted(key), &json(value));
    }
    let decision = match case.decision {
        CaseDecision::Allow => Some("allow"),
        CaseDecision::Ask => Some("ask"),
        // Without a rule, the policy denies.
        CaseDecision::Deny => None,
    };
    if let Some(decision) = decision {
        text.push_str("[[rule]]\ntool = \"*.*\"\n");
        line(&mut text, "decision", &quoted(decision));
    }
    line_of_plugin(&mut text, plugin);
    let grants = &case.grants;
    for (key, directory) in &grants.directory {
        if let Some(path) = places.directories.get(key) {
            // A key is a plain name, so it needs no quotes in TOML.
            line(&mut text, &format!("directory.{key}"), &of_directory(directory, path));
        }
    }
    for (key, http) in &grants.http {
        if let Some(address) = places.servers.get(key) {
            line(&mut text, &format!("http.{key}"), &of_http(http, *address));
        }
    }
    for (key, scope) in &grants.store {
        let scope = match scope {
            Scope::Session => "session",
            Scope::Plugin => "plugin",
        };
        line(&mut text, &format!("store.{key}"), &format!("{{ scope = {} }}", quoted(scope)));
    }
    if !grants.config.is_empty() {
        let settings = grants.config.iter();
        let settings = settings.map(|(key, value)| format!("{} = {}", quoted(key), quoted(value)));
        line(&mut text, "config", &format!("{{ {} }}", settings.collect::<Vec<_>>().join(", ")));
    }
    text
}

fn line_of_plugin(text: &mut String, plugin: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "[plugin.{}]", quoted(plugin));
}

fn line(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key} = {value}");
}

fn of_directory(directory: &CaseDirectory, path: &Path) -> String {
    let access = match directory.access {
        CaseAccess::ReadOnly => "read-only",
        CaseAccess::ReadWrite => "read-write",
    };
    format!("{{ path = {}, access = {} }}", quoted(&path.to_string_lossy()), quoted(access))
}

fn of_http(http: &Http, address: SocketAddr) -> String {
    let methods = match &http.methods {
        Some(methods) => methods.iter().map(|method| quoted(method)).collect::<Vec<_>>(),
        None => METHODS.map(quoted).to_vec(),
    };
    format!(
        "{{ hosts = [{}], schemes = [\"http\"], ports = [{}], methods = [{}], requests-per-minute = \
         {REQUESTS_PER_MINUTE} }}",
        quoted(&address.ip().to_string()),
        address.port(),
        methods.join(", "),
    )
}

/// Converts a JSON value to TOML. The policy parser refuses what TOML does not have.
fn json(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        _ => value.to_string(),
    }
}

/// Formats a basic string of TOML. JSON escapes everything that TOML requires except DEL.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
