//! Tools that a plugin hides or narrows for some callers.

use crate::Context;
use serde_json::Value;

/// The caller that tools are offered to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The session.
    pub session: String,
    /// The name of the caller in the policy, such as `local`. A tool that calls has the name of its own caller before
    /// its own, such as `local/script`.
    pub principal: String,
    /// The program that calls, as it names itself. Nothing proves it.
    pub client: Option<String>,
    /// The model that calls, if the host knows it.
    pub model: Option<String>,
    /// Whether a schedule or a program started the session, and not a person.
    pub automated: bool,
}

/// A tool that a caller is not offered, or of which it is offered less.
#[derive(Debug, Clone, PartialEq)]
pub struct Preparation {
    /// The tool's name within the plugin.
    pub tool: String,
    /// What the caller is offered of it.
    pub availability: Availability,
}

/// What a caller is offered of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Availability {
    /// The tool does not exist for the caller. The reason is for the operator.
    Hidden(String),
    /// The definition has other parts for the caller.
    Narrowed {
        /// The new description for a model.
        description: Option<String>,
        /// A JSON Schema that arguments must match besides the tool's own.
        schema: Option<Value>,
    },
}

impl Preparation {
    /// Hides a tool. The reason is for the operator.
    pub fn hide(tool: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { tool: tool.into(), availability: Availability::Hidden(reason.into()) }
    }

    /// Narrows the arguments of a tool by a JSON Schema 2020-12. Arguments must match it besides the tool's own schema,
    /// which it takes the place of where the tool is listed. Its root must have `"type": "object"`.
    pub fn narrow(tool: impl Into<String>, schema: Value) -> Self {
        Self { tool: tool.into(), availability: Availability::Narrowed { description: None, schema: Some(schema) } }
    }

    /// Replaces the description of a tool for a model. Does nothing if the tool is hidden.
    #[must_use]
    pub fn described(mut self, text: impl Into<String>) -> Self {
        if let Availability::Narrowed { description, .. } = &mut self.availability {
            *description = Some(text.into());
        }
        self
    }
}

/// The caller of tools that are about to be offered, and the plugin's settings.
#[derive(Debug)]
pub struct Preparing<'a> {
    caller: &'a Caller,
    context: &'a Context,
}

impl<'a> Preparing<'a> {
    pub(crate) fn new(caller: &'a Caller, context: &'a Context) -> Self {
        Self { caller, context }
    }

    /// Returns the caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.caller
    }

    /// Returns the context, which has the plugin's settings but no handle.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.context
    }
}
