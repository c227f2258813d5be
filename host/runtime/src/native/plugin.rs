//! A native plugin: the definitions of its tools, and the functions that they run.

use super::answer::{NativeAnswer, NativeFailure};
use super::call::NativeCall;
use portcullis_definitions::manifest::{Definition, Manifest};
use portcullis_policy::{Hint, Permissions};
use portcullis_sandbox::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The function of a native tool.
pub(crate) type NativeFunction =
    Arc<dyn Fn(NativeCall, Value) -> BoxFuture<'static, Result<NativeAnswer, NativeFailure>> + Send + Sync>;

/// The functions of a native plugin, by the names of its tools.
pub(crate) type NativeFunctions = Arc<BTreeMap<String, NativeFunction>>;

/// The manifest of a native plugin, and its functions.
pub(crate) struct NativeManifest {
    pub(crate) manifest: Manifest,
    pub(crate) functions: NativeFunctions,
}

/// A plugin whose tools are functions of the application. [`Host::register`](crate::Host::register) adds it to a host.
///
/// An approval is bound to the definitions of the tools and to the version. The host cannot see the code of a function:
/// give a changed function another version, or remembered approvals of the old one apply to it.
///
/// ```no_run
/// use portcullis::native::{NativeAnswer, NativeFailure, NativePlugin, NativeTool};
/// use serde_json::json;
///
/// # async fn example(host: &portcullis::Host) -> Result<(), portcullis::RegisterError> {
/// let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
/// let count = NativeTool::new("count", "Counts the words of a text.", &schema, async |_call, arguments| {
///     match arguments["text"].as_str().unwrap_or_default().split_whitespace().count() {
///         0 => Err(NativeFailure::invalid_arguments("The text has no words. Pass a text with words.")),
///         words => Ok(NativeAnswer::text(format!("{words} words"))),
///     }
/// });
/// host.register(NativePlugin::new("words", "1.0.0", "Counts words.").tool(count)).await?;
/// # Ok(())
/// # }
/// ```
pub struct NativePlugin {
    manifest: Manifest,
    functions: BTreeMap<String, NativeFunction>,
}

/// A native tool: its definition, and the function that it runs.
pub struct NativeTool {
    definition: Definition,
    function: NativeFunction,
}

impl NativePlugin {
    /// Creates a plugin without tools. The names of plugins and tools have the same form as everywhere: lower-case
    /// letters, digits, `-` and `_`.
    pub fn new(name: impl Into<String>, version: impl Into<String>, description: impl Into<String>) -> Self {
        let (tools, dependencies) = (Vec::new(), Vec::new());
        let (name, version, description) = (name.into(), version.into(), description.into());
        Self { manifest: Manifest { name, version, description, tools, dependencies }, functions: BTreeMap::new() }
    }

    /// Adds a tool. Two tools of the same name are an error of [`Host::register`](crate::Host::register).
    #[must_use]
    pub fn tool(mut self, NativeTool { definition, function }: NativeTool) -> Self {
        self.functions.insert(definition.name.clone(), function);
        self.manifest.tools.push(definition);
        self
    }

    pub(crate) fn into_parts(self) -> NativeManifest {
        NativeManifest { manifest: self.manifest, functions: Arc::new(self.functions) }
    }
}

impl NativeTool {
    /// Creates a tool that needs no permissions. The description is for the model, and the schema is the JSON Schema of
    /// the arguments. The function gets arguments that match the schema.
    ///
    /// The future of the function is dropped at the call's time limit, and when the call is cancelled. It must not
    /// block its thread, because a blocked thread cannot be interrupted: use `tokio::task::spawn_blocking`. A panic in
    /// it fails the call.
    ///
    /// An async closure that captures nothing works as it is. A closure that captures something clones it into its
    /// future, as for [`service_fn`](crate::services::service_fn).
    pub fn new<F, A>(name: impl Into<String>, description: impl Into<String>, schema: &Value, function: F) -> Self
    where
        F: Fn(NativeCall, Value) -> A + Send + Sync + 'static,
        A: Future<Output = Result<NativeAnswer, NativeFailure>> + Send + 'static,
    {
        let definition = Definition {
            name: name.into(),
            title: None,
            description: description.into(),
            schema: schema.to_string(),
            output_schema: None,
            required: Permissions::default(),
            optional: Permissions::default(),
            hints: Vec::new(),
        };
        Self { definition, function: Arc::new(move |call, arguments| Box::pin(function(call, arguments))) }
    }

    /// Sets a short title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets the JSON Schema of the answer. Every answer must then be JSON that matches it.
    #[must_use]
    pub fn output_schema(mut self, schema: &Value) -> Self {
        self.definition.output_schema = Some(schema.to_string());
        self
    }

    /// Sets the permissions that the tool needs. Rules of the policy and the order of calls in a session use them. They
    /// do not limit what the function can do.
    #[must_use]
    pub fn requires(mut self, permissions: impl Into<Permissions>) -> Self {
        self.definition.required = permissions.into();
        self
    }

    /// Adds a claim about the tool, such as that it only reads.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.definition.hints.push(hint);
        self
    }
}

impl fmt::Debug for NativePlugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NativePlugin").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

impl fmt::Debug for NativeTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NativeTool").field("definition", &self.definition).finish_non_exhaustive()
    }
}
