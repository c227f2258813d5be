//! The questions that a policy answers.

use serde_json::{Map, Value};

use crate::caller::Caller;
use crate::hint::Hint;
use crate::name::ToolName;
use crate::permission::{Permission, Permissions};

/// A call to decide on.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The tool that is called.
    pub tool: &'a ToolName,
    /// The tool's declared permissions, required and optional.
    pub permissions: Permissions,
    /// The hints of its author.
    pub hints: &'a [Hint],
    /// The validated arguments: exactly the value that the tool gets.
    pub arguments: &'a Map<String, Value>,
    /// The caller.
    pub caller: Caller<'a>,
}

/// A permission that a tool requests for a resource during a call.
#[derive(Debug, Clone, Copy)]
pub struct ResourceQuestion<'a> {
    /// The tool that was called.
    pub tool: &'a ToolName,
    /// The requested permission.
    pub permission: Permission,
    /// The hints of its author.
    pub hints: &'a [Hint],
    /// The resource.
    pub resource: &'a str,
    /// The caller.
    pub caller: Caller<'a>,
}
