//! The reply to a call: an outcome, a stable code, and a message that a model can act on.

use crate::outputs::Reference;
use crate::trimmed_result::TrimmedResult;
use data_encoding::BASE64;
use portcullis_definitions::manifest::{Output, Part};
use portcullis_sandbox::{LimitKind, Usage};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The tool returned a usable answer.
    Completed,
    /// The tool ran, but returned no usable answer.
    Failed,
    /// The request or its arguments are invalid. The tool did not run.
    Invalid,
    /// The policy, an approver, a reviewer, a hook or a missing grant denied the call. The tool did not run, unless the
    /// message says so.
    Denied,
    /// The call waits for an approver. The tool did not run.
    Pending,
    /// The caller cancelled the call.
    Cancelled,
    /// The call reached a limit, its caller makes too many calls, or too many calls are running.
    Limit,
    /// The guest trapped or exited, or the host panicked while it served the guest.
    Trapped,
    /// The plugin was refused, or is not compiled yet.
    Refused,
}

impl Outcome {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
            Self::Denied => "denied",
            Self::Pending => "pending",
            Self::Cancelled => "cancelled",
            Self::Limit => "limit",
            Self::Trapped => "trapped",
            Self::Refused => "refused",
        }
    }
}

/// The stable code that says exactly what happened. Programs may match on it. `docs/codes.md` lists all codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The tool returned a usable answer.
    Completed,
    /// The tool failed.
    ToolFailed,
    /// Something that the tool depends on is not available.
    ToolUnavailable,
    /// The tool was denied something during the call.
    ToolDenied,
    /// The tool rejected the arguments, although they match its schema.
    ToolRejectedArguments,
    /// The tool's answer breaks the contract or the tool's definition.
    InvalidOutput,
    /// The arguments are not a JSON object that this host accepts.
    MalformedArguments,
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// The tool does not exist.
    UnknownTool,
    /// The tool's definition has changed since the caller read it.
    DefinitionChanged,
    /// The caller marked its own request as one that must not run.
    CallerRefused,
    /// The tool has no schema, and the policy does not allow calls of its plugin without one.
    NoSchema,
    /// The policy denied the call.
    PolicyDenied,
    /// The policy is paused, so every call is refused.
    Paused,
    /// An approver denied the call, or its approval does not apply.
    ApprovalDenied,
    /// The call waits for an approver. Its approval request stays open.
    ApprovalPending,
    /// The plugin's reviewer refused the call.
    ReviewRefused,
    /// A hook of the embedder refused the call, or withheld its answer.
    HookRefused,
    /// The policy does not grant a handle that the call needs.
    DependencyNotGranted,
    /// The call could not be written to the audit log. It was not made, or its answer is withheld.
    RecordUnavailable,
    /// The caller cancelled the call, or the user superseded it.
    Cancelled,
    /// The user sent a new message before the call started.
    Superseded,
    /// The call reached this limit.
    Limit(LimitKind),
    /// The policy's rate limit is reached. The reply says when to try again.
    RateLimited,
    /// Too many calls are running.
    Busy,
    /// The tool's plugin is still being compiled, so its tools are not known yet.
    PluginLoading,
    /// The guest trapped.
    Trapped,
    /// The guest exited.
    Exited,
    /// The host panicked while it served the call.
    HostPanic,
    /// The plugin was refused when it was loaded.
    PluginRefused,
}

impl Code {
    /// Returns the outcome that this code belongs to.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Completed => Outcome::Completed,
            Self::ToolFailed
            | Self::ToolUnavailable
            | Self::ToolDenied
            | Self::ToolRejectedArguments
            | Self::InvalidOutput => Outcome::Failed,
            Self::MalformedArguments
            | Self::InvalidArguments
            | Self::UnknownTool
            | Self::DefinitionChanged
            | Self::CallerRefused => Outcome::Invalid,
            Self::NoSchema
            | Self::PolicyDenied
            | Self::Paused
            | Self::ApprovalDenied
            | Self::ReviewRefused
            | Self::HookRefused
            | Self::DependencyNotGranted
            | Self::RecordUnavailable => Outcome::Denied,
            Self::ApprovalPending => Outcome::Pending,
            Self::Cancelled | Self::Superseded => Outcome::Cancelled,
            Self::Limit(_) | Self::RateLimited | Self::Busy => Outcome::Limit,
            Self::Trapped | Self::Exited | Self::HostPanic => Outcome::Trapped,
            Self::PluginRefused | Self::PluginLoading => Outcome::Refused,
        }
    }

    /// Returns the code of a call that its own caller does not want to run. Only a code about an invalid request stays.
    pub(crate) fn of_refusal(self) -> Self {
        if self.outcome() == Outcome::Invalid { self } else { Self::CallerRefused }
    }

    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::ToolFailed => "tool-failed",
            Self::ToolUnavailable => "tool-unavailable",
            Self::ToolDenied => "tool-denied",
            Self::ToolRejectedArguments => "tool-rejected-arguments",
            Self::InvalidOutput => "invalid-output",
            Self::MalformedArguments => "malformed-arguments",
            Self::InvalidArguments => "invalid-arguments",
            Self::UnknownTool => "unknown-tool",
            Self::DefinitionChanged => "definition-changed",
            Self::CallerRefused => "caller-refused",
            Self::NoSchema => "no-schema",
            Self::PolicyDenied => "policy-denied",
            Self::Paused => "paused",
            Self::ApprovalDenied => "approval-denied",
            Self::ApprovalPending => "approval-pending",
            Self::ReviewRefused => "review-refused",
            Self::HookRefused => "hook-refused",
            Self::DependencyNotGranted => "dependency-not-granted",
            Self::RecordUnavailable => "record-unavailable",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
            Self::Limit(kind) => limit_code(kind),
            Self::RateLimited => "rate-limited",
            Self::Busy => "busy",
            Self::PluginLoading => "plugin-loading",
            Self::Trapped => "trapped",
            Self::Exited => "exited",
            Self::HostPanic => "host-panic",
            Self::PluginRefused => "plugin-refused",
        }
    }
}

fn limit_code(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Time => "limit-time",
        LimitKind::Memory => "limit-memory",
        LimitKind::TableElements => "limit-table-elements",
        LimitKind::Instances => "limit-instances",
        LimitKind::Stack => "limit-stack",
        LimitKind::Transfer => "limit-transfer",
        LimitKind::Handles => "limit-handles",
        LimitKind::Resources => "limit-resources",
        LimitKind::HostMemory => "limit-host-memory",
        LimitKind::Random => "limit-random",
        LimitKind::Output => "limit-output",
        LimitKind::KeptOutput => "limit-kept-output",
        LimitKind::Concurrency => "limit-concurrency",
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The reply to one request. It serializes to the JSON that `portcullis call --json` prints.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The id of the call, 128 random bits in hexadecimal.
    pub id: String,
    /// The tool's name as the caller wrote it. Untrusted text.
    pub tool: String,
    /// What happened.
    pub code: Code,
    /// The tool's answer, if it returned one. Untrusted content.
    pub output: Option<Output>,
    /// The tool's short title for its answer, at most 256 bytes. Untrusted text.
    pub title: Option<String>,
    /// The tool's metadata for programs, a JSON object.
    pub metadata: Option<Value>,
    /// The message for the model. In an error, the host labels text that a plugin wrote.
    pub message: String,
    /// The kept output, if the answer was too large for the reply or the tool was stopped.
    pub reference: Option<Reference>,
    /// How long to wait before a retry, if the tool proposes it, its plugin is still being compiled, or a rate limit is
    /// reached.
    pub retry_after: Option<Duration>,
    /// The id of the approval request that the call waits for, if its code is [`Code::ApprovalPending`].
    pub approval_request: Option<String>,
    /// The resource usage of the call.
    pub usage: CallUsage,
    /// The older results of the conversation that are to be replaced from now on, if the host has a
    /// [`ResultsBudget`](crate::ResultsBudget). They are not part of the JSON.
    pub trimmed: Vec<TrimmedResult>,
}

impl Reply {
    /// Creates the reply of a call that has an answer.
    pub(crate) fn completed(id: String, tool: String, output: Output, message: String) -> Self {
        Self { output: Some(output), ..Self::failed(id, tool, Code::Completed, message) }
    }

    /// Creates the reply of a call that ended without an answer.
    pub(crate) fn failed(id: String, tool: String, code: Code, message: String) -> Self {
        Self {
            id,
            tool,
            code,
            output: None,
            title: None,
            metadata: None,
            message,
            reference: None,
            retry_after: None,
            approval_request: None,
            usage: CallUsage::default(),
            trimmed: Vec::new(),
        }
    }

    /// Returns the same reply without its answer.
    pub(crate) fn withheld(self, code: Code, message: String) -> Self {
        Self { code, output: None, title: None, metadata: None, message, reference: None, ..self }
    }

    /// Returns how the call ended.
    pub fn outcome(&self) -> Outcome {
        self.code.outcome()
    }
}

impl From<&TrimmedResult> for Reply {
    /// Makes a reply of the trimmed form, which can be converted to a provider's message like the first one.
    fn from(trimmed: &TrimmedResult) -> Self {
        let TrimmedResult { call, tool, text } = trimmed;
        Self::completed(call.clone(), tool.clone(), Output::Text(text.clone()), text.clone())
    }
}

/// The resource usage of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallUsage {
    /// The usage of the run in the sandbox.
    pub run: Usage,
    /// Bytes of arguments passed to the guest.
    pub bytes_in: u64,
    /// Bytes of output taken from the guest.
    pub bytes_out: u64,
}

impl Serialize for CallUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let microseconds = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let mut usage = serializer.serialize_struct("usage", 5)?;
        usage.serialize_field("wall_us", &microseconds(self.run.wall))?;
        usage.serialize_field("cpu_us", &microseconds(self.run.cpu))?;
        usage.serialize_field("memory_bytes", &self.run.memory_bytes)?;
        usage.serialize_field("bytes_in", &self.bytes_in)?;
        usage.serialize_field("bytes_out", &self.bytes_out)?;
        usage.end()
    }
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let optional = usize::from(self.retry_after.is_some()) + usize::from(self.approval_request.is_some());
        let mut reply = serializer.serialize_struct("reply", 10 + optional)?;
        reply.serialize_field("id", &self.id)?;
        reply.serialize_field("tool", &self.tool)?;
        reply.serialize_field("outcome", self.outcome().as_str())?;
        reply.serialize_field("code", self.code.as_str())?;
        reply.serialize_field("output", &self.output.as_ref().map(ShownOutput))?;
        reply.serialize_field("title", &self.title)?;
        reply.serialize_field("metadata", &self.metadata)?;
        reply.serialize_field("message", &self.message)?;
        reply.serialize_field("reference", &self.reference)?;
        if let Some(after) = self.retry_after {
            reply.serialize_field("retry_after_s", &after.as_secs())?;
        }
        if let Some(request) = &self.approval_request {
            reply.serialize_field("approval_request", request)?;
        }
        reply.serialize_field("usage", &self.usage)?;
        reply.end()
    }
}

struct ShownOutput<'a>(&'a Output);

impl Serialize for ShownOutput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut output = serializer.serialize_map(Some(2))?;
        match self.0 {
            Output::Text(text) => {
                output.serialize_entry("type", "text")?;
                output.serialize_entry("text", text)?;
            }
            Output::Json(json) => {
                output.serialize_entry("type", "json")?;
                // The shaping step has parsed it. If it were not JSON, it would be serialized as a string.
                let value = serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.clone()));
                output.serialize_entry("value", &value)?;
            }
            Output::Parts(parts) => {
                output.serialize_entry("type", "parts")?;
                output.serialize_entry("parts", &parts.iter().map(ShownPart).collect::<Vec<_>>())?;
            }
        }
        output.end()
    }
}

struct ShownPart<'a>(&'a Part);

impl Serialize for ShownPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut part = serializer.serialize_map(None)?;
        match self.0 {
            Part::Text(text) => {
                part.serialize_entry("type", "text")?;
                part.serialize_entry("text", text)?;
            }
            Part::Image(blob) | Part::File(blob) => {
                let kind = if matches!(self.0, Part::Image(_)) { "image" } else { "file" };
                part.serialize_entry("type", kind)?;
                if let Some(name) = &blob.name {
                    part.serialize_entry("name", name)?;
                }
                part.serialize_entry("media_type", &blob.media_type)?;
                part.serialize_entry("data", &BASE64.encode(&blob.data))?;
            }
        }
        part.end()
    }
}
