//! The questions that a policy answers.

use serde_json::{Map, Value};

use crate::caller::Caller;
use crate::hint::Hint;
use crate::name::ToolName;
use crate::permission::{Permission, Permissions};

/// May this call run?
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The tool that is called.
    pub tool: &'a ToolName,
    /// What the tool declares, required and optional together.
    pub permissions: Permissions,
    /// What its author claims of it.
    pub hints: &'a [Hint],
    /// The validated arguments: exactly the value that will run.
    pub arguments: &'a Map<String, Value>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// May this tool do this, too, in the middle of a call?
#[derive(Debug, Clone, Copy)]
pub struct ResourceQuestion<'a> {
    /// The tool that was called.
    pub tool: &'a ToolName,
    /// What it asks for.
    pub permission: Permission,
    /// What its author claims of it.
    pub hints: &'a [Hint],
    /// What it asks for it on.
    pub resource: &'a str,
    /// Who called.
    pub caller: Caller<'a>,
}
