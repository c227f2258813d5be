//! A site whose plugins report their version, and helpers that change its plugin directory.

use portcullis::plugins::Catalog;
use portcullis::{Code, Host, Reply, Request};
use portcullis_tests::{BlockOn, Manifest, Site, component, module};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::timeout;

/// Timeout of every wait. It only makes a test fail; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns its word.
const SAYS: &str = r#"
(data (i32.const 2048) "WORD")
(func $execute (param i32 i32 i32 i32) (result i32) (call $answer (i32.const 0) (i32.const 2048) (i32.const LENGTH)))
"#;

/// Asks for something first, and then returns its word.
const ASKS: &str = r#"
(import "portcullis:tool/context@0.1.0" "ask" (func $ask (param i32 i32 i32 i32 i32 i32 i32)))
(data (i32.const 2048) "WORD")
(data (i32.const 2304) "write")
(func $execute (param i32 i32 i32 i32) (result i32)
  (call $ask (i32.const 2304) (i32.const 5) (i32.const 2304) (i32.const 5) (i32.const 2304) (i32.const 5)
    (i32.const 3072))
  (if (i32.load8_u (i32.const 3072)) (then unreachable))
  (call $answer (i32.const 0) (i32.const 2048) (i32.const LENGTH)))
"#;

/// Allows every call. What a running call asks for needs approval.
pub(crate) const ALLOW: &str = "[approvals]\nrepeats = 1000000\n[defaults]\ndecision = \"ask\"\n\
    [limits]\ntime = \"60 s\"\n[[rule]]\ntool = \"*.*\"\nwhen = { go = \"yes\" }\ndecision = \"allow\"\n";

/// Builds a plugin that returns a word.
pub(crate) fn says(word: &str, manifest: &Manifest) -> Vec<u8> {
    with_word(SAYS, word, manifest)
}

/// Builds a plugin that asks, and then returns a word.
pub(crate) fn asks(word: &str, manifest: &Manifest) -> Vec<u8> {
    with_word(ASKS, word, &manifest.clone().tool(|tool| tool.required = 2))
}

fn with_word(fields: &str, word: &str, manifest: &Manifest) -> Vec<u8> {
    component(&module(&fields.replace("WORD", word).replace("LENGTH", &word.len().to_string()), manifest))
}

/// Returns the path of a file in the plugin directory.
pub(crate) fn file(site: &Site, name: &str) -> PathBuf {
    site.plugins().join(format!("{name}.wasm"))
}

/// Installs a plugin that returns a word.
pub(crate) fn put(site: &Site, name: &str, word: &str) {
    put_bytes(site, name, &says(word, &Manifest::of(name)));
}

/// Writes a file atomically, as an installer should.
pub(crate) fn put_bytes(site: &Site, name: &str, bytes: &[u8]) {
    let aside = site.plugins().join(format!(".{name}.new"));
    fs::write(&aside, bytes).unwrap();
    fs::rename(aside, file(site, name)).unwrap();
}

/// Calls the only tool of a plugin.
pub(crate) async fn call(host: &Host, plugin: &str) -> Reply {
    host.call(Request::new(format!("{plugin}.run"), r#"{"go":"yes"}"#)).await
}

/// Calls a plugin and returns its result.
#[track_caller]
pub(crate) fn word(reply: Reply) -> String {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    reply.message
}

/// Returns the audit entries about plugins: the event, the plugin, and whether there is a hash of it.
pub(crate) fn lines(host: &Host) -> Vec<(String, String, bool)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut lines = Vec::new();
    let read = host
        .audit()
        .read(|entry| {
            let document = entry.document;
            if document["kind"] == "plugin" {
                let has_hash = document["sha256"].as_str().is_some_and(|sha256| sha256.len() == 64);
                lines.push((text(&document["event"]), text(&document["plugin"]), has_hash));
            }
            Ok(())
        })
        .block_on();
    assert_eq!(read.unwrap().fault, None);
    lines
}

/// Returns the names of all tools of plugins, in order.
pub(crate) fn tools(host: &Host) -> Vec<String> {
    let catalog = host.catalog();
    let of_plugins = catalog.tools().filter(|(plugin, _)| !plugin.is_standard());
    of_plugins.map(|(_, tool)| tool.name().to_string()).collect()
}

/// Waits until the catalog matches.
pub(crate) async fn until(changes: &mut Receiver<Arc<Catalog>>, what: &str, is: impl Fn(&Catalog) -> bool) {
    let reached = timeout(PATIENCE, changes.wait_for(|catalog| is(catalog))).await;
    drop(reached.unwrap_or_else(|_| panic!("timeout: {what}")).unwrap());
}
