//! A site with a tool that produces every kind of output, and helpers to call it and to read the rest.

use portcullis::outputs::Reader;
use portcullis::policy::Principal;
use portcullis::{Code, Host, Output, Reply, Request};
use portcullis_tests::{BlockOn, Site, allow_all, built_guest, outputs_in_database};
use serde_json::{Value, json};
use std::fs;
use std::sync::LazyLock;

/// A low limit for text, so that little is too much.
pub(crate) const SHOWN: usize = 4096;

pub(crate) static LOCAL: LazyLock<Principal> = LazyLock::new(Principal::default);

/// A site with the tool, which is compiled once for all tests.
pub(crate) async fn site() -> Site {
    let site = bare();
    site.warm();
    site
}

fn bare() -> Site {
    let site = Site::new();
    site.plugin("scribe", &built_guest("output"));
    site
}

pub(crate) fn policy() -> String {
    allow_all(&format!("output = \"{SHOWN} B\"\ntime = \"60 s\""))
}

pub(crate) async fn open(site: &Site) -> Host {
    site.open(&policy()).await
}

pub(crate) async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    host.call(Request::new(tool, arguments.to_string())).await
}

/// Makes the tool write lines of 64 bytes.
pub(crate) async fn lines(host: &Host, count: u64) -> Reply {
    call(host, "scribe.lines", json!({ "count": count, "bytes": 64 })).await
}

/// Returns the text that [`lines`] writes.
pub(crate) fn all_lines(count: u64) -> String {
    (1..=count).map(|number| format!("{:.<63}\n", format!("line {number} "))).collect()
}

#[track_caller]
pub(crate) fn reference(reply: &Reply) -> String {
    let reference = reply.reference.as_ref().unwrap_or_else(|| panic!("no output was kept: {}", reply.message));
    reference.id.clone()
}

#[track_caller]
pub(crate) fn text(reply: &Reply) -> &str {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    match &reply.output {
        Some(Output::Text(text)) => text,
        other => panic!("no text: {other:?}"),
    }
}

/// Returns the arguments of the call in a notice.
#[track_caller]
pub(crate) fn named(message: &str, tool: &str) -> Option<Value> {
    let at = message.find(&format!("{tool} {{"))? + tool.len() + 1;
    let mut values = serde_json::Deserializer::from_str(&message[at..]).into_iter::<Value>();
    Some(values.next().unwrap().unwrap_or_else(|error| panic!("{error}: {message}")))
}

/// Follows the notices to the end, and joins the lines. A line that is read in pieces is joined too.
pub(crate) async fn read_on(host: &Host, message: &str) -> String {
    let (mut whole, mut next, mut inside) = (String::new(), named(message, "output.read"), false);
    while let Some(arguments) = next {
        inside = inside || arguments.get("column").is_some();
        let reply = call(host, "output.read", arguments).await;
        let page = text(&reply);
        assert!(page.len() <= SHOWN, "{} bytes", page.len());
        for line in page.lines().filter(|line| !line.starts_with("[Portcullis: ")) {
            if !inside && !whole.is_empty() {
                whole.push('\n');
            }
            inside = false;
            whole.push_str(line.split_once('\t').unwrap_or_else(|| panic!("no number: {line}")).1);
        }
        next = named(page, "output.read");
        inside = next.as_ref().is_some_and(|next| next.get("column").is_some());
    }
    whole
}

/// Reads everything of an output that the first session's caller can read, by bytes.
pub(crate) fn bytes_of(host: &Host, id: &str) -> Vec<u8> {
    let reader = Reader { session: "default", principal: &LOCAL };
    let mut bytes = Vec::new();
    loop {
        let page = host.outputs().read(reader, id, bytes.len() as u64, 1 << 20).block_on().unwrap();
        if page.is_empty() {
            return bytes;
        }
        bytes.extend(page);
    }
}

/// Returns the files of kept outputs, or their ids if they are in a database.
pub(crate) fn files(site: &Site) -> Vec<String> {
    if let Some(ids) = outputs_in_database(&site.state()) {
        return ids;
    }
    let entries = fs::read_dir(site.state().join("outputs")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
