//! Native tools for the tests: one of each behaviour that the host has to withstand.

use portcullis::native::{NativeAnswer, NativeFailure, NativePlugin, NativeTool};
use portcullis::policy::Permission;
use portcullis::{Host, Reply, Request};
use portcullis_tests::Site;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The name of the native plugin.
pub(crate) const PLUGIN: &str = "app";

/// Counts what a native tool does.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicUsize>);

impl Counter {
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// Counts when it is dropped.
struct CountDrop(Counter);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.count();
    }
}

/// Panics when it is dropped.
struct PanicDrop;

impl Drop for PanicDrop {
    fn drop(&mut self) {
        panic!("the drop panics");
    }
}

/// Returns the schema of a text.
pub(crate) fn text_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"],
        "additionalProperties": false
    })
}

/// Builds a tool that returns its text, and counts its runs.
pub(crate) fn echo(runs: &Counter) -> NativeTool {
    let runs = runs.clone();
    NativeTool::new("echo", "Returns the text.", &text_schema(), move |_, arguments: Value| {
        runs.count();
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        async move { Ok(NativeAnswer::text(text).title("An echo").metadata(&json!({ "echo": true }))) }
    })
}

/// Builds a tool that never answers. Counts its ends.
pub(crate) fn hangs(ends: &Counter) -> NativeTool {
    let ends = ends.clone();
    NativeTool::new("hangs", "Never answers.", &json!({ "type": "object" }), move |_, _| {
        let end = CountDrop(ends.clone());
        async move {
            let _end = end;
            std::future::pending().await
        }
    })
}

/// Builds a plugin with a tool for each way to fail, and the tools that count.
pub(crate) fn plugin(runs: &Counter, ends: &Counter) -> NativePlugin {
    let any = json!({ "type": "object" });
    NativePlugin::new(PLUGIN, "1.0.0", "Functions of the tests.")
        .tool(echo(runs))
        .tool(hangs(ends))
        .tool(NativeTool::new("panics", "Panics.", &any, async |_, _| panic!("out of cheese")))
        .tool(NativeTool::new("panics-at-once", "Panics.", &any, |_, _| -> std::future::Pending<_> {
            panic!("out of cheese")
        }))
        .tool(NativeTool::new("panics-late", "Panics at its end.", &any, async |_, _| {
            let _late = PanicDrop;
            std::future::pending().await
        }))
        .tool(NativeTool::new("fails", "Fails.", &any, async |_, _| {
            Err(NativeFailure::unavailable("The shop is closed.", Some(Duration::from_secs(7))))
        }))
        .tool(
            NativeTool::new("numbers", "Returns JSON.", &any, async |_, arguments: Value| {
                Ok(NativeAnswer::json(&json!({ "count": arguments["count"] })))
            })
            .output_schema(&json!({
                "type": "object",
                "properties": { "count": { "type": "integer" } },
                "required": ["count"]
            })),
        )
        .tool(NativeTool::new("long", "Returns lines.", &any, async |_, arguments: Value| {
            let lines = arguments["lines"].as_u64().unwrap_or_default();
            Ok(NativeAnswer::text((1..=lines).map(|line| format!("line {line}\n")).collect::<String>()))
        }))
        .tool(
            NativeTool::new("writes", "Changes something.", &text_schema(), async |_, _| {
                Ok(NativeAnswer::text("changed"))
            })
            .requires(Permission::Write),
        )
}

/// Opens a host with the native plugin.
pub(crate) async fn open(site: &Site, policy: &str) -> (Host, Counter, Counter) {
    let host = site.open(policy).await;
    let (runs, ends) = (Counter::default(), Counter::default());
    host.register(plugin(&runs, &ends)).await.unwrap();
    (host, runs, ends)
}

pub(crate) async fn call(host: &Host, tool: &str, arguments: Value) -> Reply {
    host.call(Request::json(tool, &arguments)).await
}
