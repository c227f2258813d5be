//! Tools of other plugins, which the policy binds.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{Map, Value};
use portcullis_sdk::{Hint, Outlook, ToolSummary};

/// What to call.
#[arguments]
pub(crate) struct Delegate {
    /// The key of the tools.
    key: String,
    /// The full name of the tool.
    tool: String,
    /// Its arguments.
    arguments: Map<String, Value>,
}

/// Calls another tool, and answers as that tool does.
#[tool]
pub(crate) fn delegate(arguments: Delegate, context: &Context) -> Result<Success, Failure> {
    context.tools(&arguments.key)?.call(&arguments.tool, &arguments.arguments)
}

/// What to call at the same time.
#[arguments]
pub(crate) struct DelegateAll {
    /// The key of the tools.
    key: String,
    /// The full names of the tools.
    tools: Vec<String>,
    /// The argument of each.
    texts: Vec<String>,
}

/// Calls several tools with a text each at the same time, and answers with the text or the failure of each.
#[tool(name = "delegate-all")]
pub(crate) fn delegate_all(arguments: DelegateAll, context: &Context) -> Result<Value, Failure> {
    let DelegateAll { key, tools, texts } = arguments;
    let calls = tools.iter().zip(&texts).map(|(tool, text)| ToolCall::new(tool, &json!({ "text": text })));
    let calls: Vec<_> = calls.collect::<Result<_, _>>()?;
    let answers = context.tools(&key)?.call_all(&calls).into_iter().map(|answer| match answer {
        Ok(success) => json!({ "text": success.text() }),
        Err(failure) => json!({ "failure": failure.text() }),
    });
    Ok(json!({ "answers": answers.collect::<Vec<_>>() }))
}

/// Says what would happen to calls of other tools with a text each, and asks for them together.
#[tool(read_only)]
pub(crate) fn plan(arguments: DelegateAll, context: &Context) -> Result<Value, Failure> {
    let DelegateAll { key, tools, texts } = arguments;
    let calls = tools.iter().zip(&texts).map(|(tool, text)| ToolCall::new(tool, &json!({ "text": text })));
    let calls: Vec<_> = calls.collect::<Result<_, _>>()?;
    let others = context.tools(&key)?;
    let outlooks = others.foresee(&calls).into_iter().map(|outlook| match outlook {
        Outlook::Runs => "runs".to_owned(),
        Outlook::NeedsApproval => "needs-approval".to_owned(),
        Outlook::Fails(failure) => format!("fails: {}", failure.text()),
    });
    Ok(json!({ "outlooks": outlooks.collect::<Vec<_>>(), "approved": others.approve(&calls) }))
}

/// What to look up.
#[arguments]
pub(crate) struct Lookup {
    /// The key of the tools.
    key: String,
    /// What the search is for.
    query: String,
    /// How many tools the search may find.
    #[schemars(range(max = 100))]
    limit: u32,
    /// The full name of the tool to define.
    tool: String,
}

/// Lists and searches other tools, and says how one of them is defined.
#[tool(read_only, idempotent)]
pub(crate) fn lookup(arguments: Lookup, context: &Context) -> Result<Value, Failure> {
    let Lookup { key, query, limit, tool } = arguments;
    let tools = context.tools(&key)?;
    let found = tools.search(&query, limit);
    let definition = tools.definition(&tool).map(|tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "schema": tool.schema,
            "output_schema": tool.output_schema,
            "permissions": tool.permissions.iter().map(|permission| permission.name()).collect::<Vec<_>>(),
            "hints": tool.hints.iter().copied().map(hint).collect::<Vec<_>>(),
        })
    });
    Ok(json!({ "list": tools.list().iter().map(summary).collect::<Vec<_>>(),
        "found": found.iter().map(summary).collect::<Vec<_>>(), "definition": definition }))
}

fn summary(tool: &ToolSummary) -> Value {
    json!({ "name": tool.name, "title": tool.title, "description": tool.description })
}

fn hint(hint: Hint) -> &'static str {
    match hint {
        Hint::ReadOnly => "read-only",
        Hint::Destructive => "destructive",
        Hint::Idempotent => "idempotent",
        Hint::OpenWorld => "open-world",
        Hint::Sequential => "sequential",
    }
}
