//! Calls other tools as it is told to, and says what each answered.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use portcullis_sdk::{CallableTool, Output};
use std::time::{Duration, Instant};

/// The calls to make.
#[arguments]
struct Calls {
    /// The calls, in order.
    calls: Vec<Wanted>,
    /// Whether to make them at the same time.
    #[serde(default)]
    together: bool,
    /// How often to make all of them. Only the answers of the last time are returned.
    #[serde(default = "once")]
    times: u32,
    /// Whether to pass the answers on as texts, without parsing them. Only without `together`.
    #[serde(default)]
    unparsed: bool,
    /// How long to compute before the calls, in milliseconds.
    #[serde(default)]
    computes_ms: u64,
}

/// One call.
#[arguments]
struct Wanted {
    /// The full name of the tool.
    tool: String,
    /// The arguments.
    #[serde(default)]
    arguments: Value,
}

/// A need.
#[arguments]
struct Need {
    /// The need in words. Without one, all tools are listed.
    #[serde(default)]
    query: Option<String>,
    /// The maximum number of tools.
    #[serde(default)]
    limit: u32,
}

/// A tool.
#[arguments]
struct Named {
    /// The full name.
    tool: String,
}

fn once() -> u32 {
    1
}

/// Makes calls.
#[tool]
fn run(arguments: Calls, context: &Context) -> Result<Value, Failure> {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(arguments.computes_ms) {}
    let tools = context.tools("tools")?;
    let calls: Vec<ToolCall> = arguments
        .calls
        .iter()
        .map(|wanted| ToolCall { tool: wanted.tool.clone(), arguments: wanted.arguments.to_string() })
        .collect();
    let mut answers = Vec::new();
    for _ in 0..arguments.times {
        answers = match (arguments.together, arguments.unparsed) {
            (true, _) => tools.call_all(&calls).into_iter().map(said).collect(),
            (false, true) => calls.iter().map(|call| passed_on(tools.call_for_text(call))).collect(),
            (false, false) => {
                calls.iter().map(|call| said(tools.call_all(std::slice::from_ref(call)).remove(0))).collect()
            }
        };
    }
    Ok(Value::Array(answers))
}

fn passed_on(answer: Result<String, Failure>) -> Value {
    answer.map_or_else(|failure| said(Err(failure)), Value::String)
}

fn said(answer: Result<Success, Failure>) -> Value {
    match answer {
        Ok(Success { output: Output::Json(value), .. }) => json!({ "json": value }),
        Ok(success) => json!({ "text": success.text() }),
        Err(failure) => {
            let kind = match &failure {
                Failure::InvalidArguments(_) => "invalid",
                Failure::Denied(_) => "denied",
                Failure::Unavailable(_) => "unavailable",
                Failure::Cancelled => "cancelled",
                Failure::Failed(_) => "failed",
            };
            json!({ kind: failure.text() })
        }
    }
}

/// Calls one tool with the function for one call, and returns its answer as its own.
#[tool]
fn pass(arguments: Wanted, context: &Context) -> Result<Success, Failure> {
    context.tools("tools")?.call(&arguments.tool, &arguments.arguments)
}

/// Lists the tools that can be called, or those that fit a need.
#[tool(read_only)]
fn list(arguments: Need, context: &Context) -> Result<Value, Failure> {
    let tools = context.tools("tools")?;
    let found = match &arguments.query {
        Some(query) => tools.search(query, arguments.limit),
        None => tools.list(),
    };
    Ok(found.into_iter().map(|tool| tool.name).collect())
}

/// Returns the definition of a tool.
#[tool(read_only)]
fn define(arguments: Named, context: &Context) -> Result<Value, Failure> {
    let Some(found) = context.tools("tools")?.definition(&arguments.tool) else { return Ok(Value::Null) };
    let CallableTool { name, title, description, schema, output_schema, permissions, hints } = found;
    let permissions: Vec<&str> = permissions.iter().map(|permission| permission.name()).collect();
    Ok(json!({
        "name": name, "title": title, "description": description, "schema": schema,
        "output_schema": output_schema, "permissions": permissions, "hints": hints.len(),
    }))
}

plugin! {
    name: "relay",
    description: "Calls other tools as it is told to.",
    tools: [run, pass, list, define],
    dependencies: [optional tools "tools": "to be called"],
}
