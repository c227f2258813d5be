//! Other tools: `tools.toolset`.

use serde_json::Value;

use super::bindings::portcullis::tool::{tools, types};
use super::errors;
use crate::callable::{CallableTool, Outlook, ToolCall, ToolSummary};
use crate::{Blob, Failure, Hint, Output, Part, Permission, Success};

/// The handle behind a set of tools.
#[derive(Debug)]
pub(crate) struct Toolset {
    handle: tools::Toolset,
}

impl Toolset {
    pub(super) fn open(key: &str) -> Result<Self, Failure> {
        let handle = tools::open_tools(key).map_err(|why| errors::no_handle("set of tools", key, why))?;
        Ok(Self { handle })
    }

    pub(crate) fn list(&self) -> Vec<ToolSummary> {
        self.handle.list().into_iter().map(summary).collect()
    }

    pub(crate) fn search(&self, query: &str, limit: u32) -> Vec<ToolSummary> {
        self.handle.search(query, limit).into_iter().map(summary).collect()
    }

    pub(crate) fn definition(&self, tool: &str) -> Option<CallableTool> {
        let tools::Callable { name, title, description, schema, output_schema, permissions, hints } =
            self.handle.definition(tool)?;
        let document = |text: String| serde_json::from_str(&text).unwrap_or(Value::Null);
        Some(CallableTool {
            name,
            title,
            description,
            schema: document(schema),
            output_schema: output_schema.map(document),
            permissions: granted(permissions),
            hints: claimed(hints),
        })
    }

    pub(crate) fn call(&self, call: &ToolCall) -> Result<Success, Failure> {
        self.handle.call(&asked(call)).map(success).map_err(failure)
    }

    pub(crate) fn call_for_text(&self, call: &ToolCall) -> Result<String, Failure> {
        let answer = self.handle.call(&asked(call)).map_err(failure)?;
        Ok(match answer.output {
            types::Output::Text(text) | types::Output::Json(text) => text,
            types::Output::Parts(parts) => Success::new(Output::Parts(parts.into_iter().map(part).collect())).text(),
        })
    }

    pub(crate) fn call_all(&self, calls: &[ToolCall]) -> Vec<Result<Success, Failure>> {
        let calls: Vec<_> = calls.iter().map(asked).collect();
        self.handle.call_all(&calls).into_iter().map(|answer| answer.map(success).map_err(failure)).collect()
    }

    pub(crate) fn foresee(&self, calls: &[ToolCall]) -> Vec<Outlook> {
        let calls: Vec<_> = calls.iter().map(asked).collect();
        self.handle.foresee(&calls).into_iter().map(outlook).collect()
    }

    pub(crate) fn approve(&self, calls: &[ToolCall]) -> Vec<bool> {
        let calls: Vec<_> = calls.iter().map(asked).collect();
        self.handle.approve(&calls)
    }
}

fn asked(call: &ToolCall) -> tools::ToolCall {
    tools::ToolCall { tool: call.tool.clone(), arguments: call.arguments.clone() }
}

fn outlook(outlook: tools::Outlook) -> Outlook {
    match outlook {
        tools::Outlook::Runs => Outlook::Runs,
        tools::Outlook::NeedsApproval => Outlook::NeedsApproval,
        tools::Outlook::Fails(failed) => Outlook::Fails(failure(failed)),
    }
}

fn summary(summary: tools::Summary) -> ToolSummary {
    let tools::Summary { name, title, description } = summary;
    ToolSummary { name, title, description }
}

fn granted(flags: types::Permissions) -> Vec<Permission> {
    const NAMES: [(types::Permissions, Permission); 4] = [
        (types::Permissions::READ, Permission::Read),
        (types::Permissions::WRITE, Permission::Write),
        (types::Permissions::EXECUTE, Permission::Execute),
        (types::Permissions::NETWORK, Permission::Network),
    ];
    NAMES.into_iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, permission)| permission).collect()
}

fn claimed(flags: types::Hints) -> Vec<Hint> {
    const NAMES: [(types::Hints, Hint); 5] = [
        (types::Hints::READ_ONLY, Hint::ReadOnly),
        (types::Hints::DESTRUCTIVE, Hint::Destructive),
        (types::Hints::IDEMPOTENT, Hint::Idempotent),
        (types::Hints::OPEN_WORLD, Hint::OpenWorld),
        (types::Hints::SEQUENTIAL, Hint::Sequential),
    ];
    NAMES.into_iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, hint)| hint).collect()
}

fn success(success: types::Success) -> Success {
    let output = match success.output {
        types::Output::Text(text) => Output::Text(text),
        // The host has checked that it is JSON.
        types::Output::Json(json) => Output::Json(serde_json::from_str(&json).unwrap_or(Value::String(json))),
        types::Output::Parts(parts) => Output::Parts(parts.into_iter().map(part).collect()),
    };
    let metadata = success.metadata.and_then(|text| serde_json::from_str(&text).ok());
    Success { title: success.title, output, metadata }
}

fn part(part: types::Part) -> Part {
    match part {
        types::Part::Text(text) => Part::Text(text),
        types::Part::Image(content) => Part::Image(blob(content)),
        types::Part::File(content) => Part::File(blob(content)),
    }
}

fn blob(blob: types::Blob) -> Blob {
    Blob { name: blob.name, media_type: blob.media_type, data: blob.data }
}

fn failure(failure: types::Failure) -> Failure {
    match failure {
        types::Failure::InvalidArguments(text) => Failure::InvalidArguments(text),
        types::Failure::Denied(text) => Failure::Denied(text),
        types::Failure::Unavailable(types::Outage { message, retry_after_seconds }) => {
            Failure::Unavailable(match retry_after_seconds {
                Some(seconds) => format!("{message} Retry in {seconds} seconds."),
                None => message,
            })
        }
        types::Failure::Cancelled => Failure::Cancelled,
        types::Failure::Failed(text) => Failure::Failed(text),
    }
}
