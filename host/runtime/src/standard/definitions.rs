//! The manifests of the built-in tools. They are checked like the manifest of a plugin.

use crate::catalog::Plugin;
use portcullis_definitions::manifest::{Definition, Manifest};
use portcullis_policy::{Hint, Permissions};
use std::sync::{Arc, LazyLock};

/// The schema of `output.read`.
const READ_SCHEMA: &str = include_str!("read.schema.json");

/// The schema of `output.grep`.
const GREP_SCHEMA: &str = include_str!("grep.schema.json");

/// The schema of `tools.explain`.
const EXPLAIN_SCHEMA: &str = include_str!("explain.schema.json");

/// The schema of `tools.batch`.
const BATCH_SCHEMA: &str = include_str!("batch.schema.json");

/// The schema of `done`.
const DONE_SCHEMA: &str = include_str!("done.schema.json");

/// Returns the built-in plugins.
pub(crate) fn plugins() -> &'static [Arc<Plugin>] {
    static PLUGINS: LazyLock<Vec<Arc<Plugin>>> =
        LazyLock::new(|| [output(), done(), tools()].into_iter().filter_map(Plugin::standard).map(Arc::new).collect());
    &PLUGINS
}

fn output() -> Manifest {
    let read = "Reads an output that was too large to be shown whole, by its reference, with line numbers. Shows as \
                many lines as fit, and says how to read the rest.";
    let grep = "Searches an output that was too large to be shown whole, by its reference, for lines that match a \
                regular expression. Shows them with line numbers and the lines around them.";
    let description = "Reads and searches outputs of earlier calls of this session that were too large to be shown.";
    manifest("output", description, vec![tool("read", read, READ_SCHEMA), tool("grep", grep, GREP_SCHEMA)])
}

fn done() -> Manifest {
    let description = "Reports that the work is done. Call it once, at the end, with the result for the user.";
    manifest("done", "Ends the work.", vec![tool("done", description, DONE_SCHEMA)])
}

fn tools() -> Manifest {
    let explain = "Says what would happen to a call of another tool now, without making it: whether it would run, need \
                   a person's approval, or be refused, and why. Use it before a call that may be refused.";
    let batch = "Makes up to 25 independent calls of other tools at once, and returns their results in order. The same \
                 rules apply as for a direct call: each call may run, be denied, or need a person's approval.";
    // What a batch does depends on its calls, so it has no hints.
    let batch = Definition { hints: Vec::new(), ..tool("batch", batch, BATCH_SCHEMA) };
    let tools = vec![tool("explain", explain, EXPLAIN_SCHEMA), batch];
    manifest("tools", "Explains calls, and makes several at once.", tools)
}

fn manifest(name: &str, description: &str, tools: Vec<Definition>) -> Manifest {
    Manifest {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        description: description.to_owned(),
        tools,
        dependencies: Vec::new(),
    }
}

fn tool(name: &str, description: &str, schema: &str) -> Definition {
    Definition {
        name: name.to_owned(),
        title: None,
        description: description.to_owned(),
        schema: schema.to_owned(),
        output_schema: None,
        required: Permissions::default(),
        optional: Permissions::default(),
        hints: vec![Hint::ReadOnly, Hint::Idempotent],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reserved::{batches, explains, is_reserved};
    use crate::standard::Standard;

    #[test]
    fn every_built_in_tool_has_a_valid_definition() {
        let names: Vec<&str> = plugins().iter().map(|plugin| plugin.name().as_str()).collect();
        assert_eq!(names, ["output", "done", "tools"]);
        assert!(plugins().iter().all(|plugin| is_reserved(plugin.name())));
        let tools = plugins().iter().flat_map(|plugin| plugin.tools());
        let named: Vec<_> = tools.map(|tool| Standard::named(tool.name())).collect();
        assert_eq!(named, [Some(Standard::Grep), Some(Standard::Read), Some(Standard::Done), None, None]);
        assert!(plugins()[2].tools().all(|tool| explains(tool.name()) != batches(tool.name())));
    }

    #[test]
    fn the_schema_of_a_batch_allows_as_many_calls_as_the_host_makes_at_once() {
        let schema: serde_json::Value = serde_json::from_str(BATCH_SCHEMA).unwrap();
        assert_eq!(schema["properties"]["calls"]["maxItems"], portcullis_sandbox::INNER_CALLS_AT_ONCE_MAX);
    }
}
