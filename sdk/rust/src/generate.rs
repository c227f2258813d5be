//! Tools that a plugin makes from its settings and its directories.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Context, Failure, Hint, Permission, Success};

/// The setting in which a host passes the accepted schema to a call.
const ACCEPTED_SCHEMA: &str = "portcullis:accepted-schema";

/// Makes tools in addition to those of the manifest, and runs them. Name the type as `generator` in `plugin!`.
pub trait Generator {
    /// Makes the tools. The context has the plugin's settings, and the directories that the policy binds, read-only. It
    /// has no other handle. The result must be the same each time.
    ///
    /// # Errors
    /// The tools cannot be made. The host then refuses the plugin, and shows the text to the operator.
    fn generate(context: &Context) -> Result<Vec<GeneratedTool>, Failure>;

    /// Runs a tool that the generator made. The context has the handles of the call.
    ///
    /// # Errors
    /// The tool failed.
    fn execute(call: &GeneratedCall<'_>) -> Result<Success, Failure>;
}

/// A tool that a generator makes.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedTool {
    /// Unique within the plugin, also among the tools of the manifest: `[a-z][a-z0-9_-]{0,63}`.
    pub name: String,
    /// A few words for people.
    pub title: Option<String>,
    /// What the tool does, for a model.
    pub description: String,
    /// JSON Schema 2020-12 of the arguments. Its root must have `"type": "object"`.
    pub schema: Value,
    /// JSON Schema 2020-12 of a JSON output.
    pub output_schema: Option<Value>,
    /// Permissions that the tool needs.
    pub required: Vec<Permission>,
    /// Permissions that the tool can use but does not need.
    pub optional: Vec<Permission>,
    /// What the author claims.
    pub hints: Vec<Hint>,
}

impl GeneratedTool {
    /// Creates a tool without a title, an output schema, permissions or hints.
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            schema,
            output_schema: None,
            required: Vec::new(),
            optional: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the schema of a JSON output.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Adds permissions that the tool needs.
    #[must_use]
    pub fn requires(mut self, permissions: &[Permission]) -> Self {
        self.required.extend_from_slice(permissions);
        self
    }

    /// Adds permissions that the tool can use but does not need.
    #[must_use]
    pub fn optional(mut self, permissions: &[Permission]) -> Self {
        self.optional.extend_from_slice(permissions);
        self
    }

    /// Adds claims about the tool's behaviour.
    #[must_use]
    pub fn hints(mut self, hints: &[Hint]) -> Self {
        self.hints.extend_from_slice(hints);
        self
    }
}

/// A call of a generated tool.
#[derive(Debug)]
pub struct GeneratedCall<'a> {
    tool: &'a str,
    arguments: &'a str,
    context: &'a Context,
}

impl<'a> GeneratedCall<'a> {
    pub(crate) fn new(tool: &'a str, arguments: &'a str, context: &'a Context) -> Self {
        Self { tool, arguments, context }
    }

    /// Returns the name of the tool, without the name of the plugin.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// Parses the arguments, for example into a [`Value`]. They are valid for the schema of the generated tool.
    ///
    /// # Errors
    /// `InvalidArguments`: they do not match the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        crate::arguments::parse(self.arguments)
    }

    /// Returns the schema of the tool as the operator accepted it. The files that it was made from may have changed
    /// since then. So compare it with what the plugin would generate now, if a definition does not say everything that
    /// a call does.
    #[must_use]
    pub fn accepted_schema(&self) -> Option<Value> {
        serde_json::from_str(&self.context.setting(ACCEPTED_SCHEMA)?).ok()
    }

    /// Returns the context of the call, with its handles.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.context
    }
}

/// The functions of a generator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GeneratorEntry {
    pub(crate) generate: fn(&Context) -> Result<Vec<GeneratedTool>, Failure>,
    pub(crate) execute: fn(&GeneratedCall<'_>) -> Result<Success, Failure>,
}

impl GeneratorEntry {
    pub(crate) const fn of<G: Generator>() -> Self {
        Self { generate: G::generate, execute: G::execute }
    }
}
