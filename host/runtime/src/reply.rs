//! What a call comes back with: an outcome, a stable code, and a message a model can act on.

use crate::outputs::Reference;
use portcullis_sandbox::{LimitKind, Output, Part, Usage};
use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The tool answered.
    Completed,
    /// The tool ran and could not answer.
    Failed,
    /// The request or its arguments are wrong; nothing ran.
    Invalid,
    /// Policy, a person, or a missing grant said no; nothing ran.
    Denied,
    /// A person has yet to answer; nothing ran.
    Pending,
    /// The caller cancelled.
    Cancelled,
    /// A limit ended it.
    Limit,
    /// The guest, or the host on its behalf, broke.
    Trapped,
    /// The plugin cannot be used.
    Refused,
}

impl Outcome {
    /// The stable name.
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

/// What exactly happened, in a word that programs may rely on. `docs/codes.md` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The tool answered.
    Completed,
    /// The tool failed.
    ToolFailed,
    /// Something the tool needs did not work.
    ToolUnavailable,
    /// The tool was refused a right in the middle of the call.
    ToolDenied,
    /// The tool found the arguments wrong, though they match its schema.
    ToolRejectedArguments,
    /// The tool's answer breaks its own definition.
    InvalidOutput,
    /// The arguments are no JSON object this host accepts.
    MalformedArguments,
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// There is no such tool.
    UnknownTool,
    /// The tool's definition is another than the one the call was made for.
    DefinitionChanged,
    /// Whoever made the request says that it must not run.
    CallerRefused,
    /// The tool has no schema, and the policy does not let its plugin be called without.
    NoSchema,
    /// The policy says no.
    PolicyDenied,
    /// A person, or who answers for them, says no.
    ApprovalDenied,
    /// A person has yet to answer; the call stays behind to be approved.
    ApprovalPending,
    /// The plugin itself refuses the call.
    ReviewRefused,
    /// A hook of the embedder refuses the call, or withholds its answer.
    HookRefused,
    /// A handle the plugin cannot do without is not granted.
    DependencyNotGranted,
    /// The call could not be recorded, and so was not made.
    RecordUnavailable,
    /// The caller cancelled.
    Cancelled,
    /// The person has written something new before the call had started.
    Superseded,
    /// A limit.
    Limit(LimitKind),
    /// Too many calls at once.
    Busy,
    /// The tool's plugin is being compiled, so that its tools are not known yet.
    PluginLoading,
    /// The guest trapped.
    Trapped,
    /// The guest exited.
    Exited,
    /// The host panicked while it served the guest.
    HostPanic,
    /// The plugin was refused at load.
    PluginRefused,
}

impl Code {
    /// How a call with this code ended.
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
            | Self::ApprovalDenied
            | Self::ReviewRefused
            | Self::HookRefused
            | Self::DependencyNotGranted
            | Self::RecordUnavailable => Outcome::Denied,
            Self::ApprovalPending => Outcome::Pending,
            Self::Cancelled | Self::Superseded => Outcome::Cancelled,
            Self::Limit(_) | Self::Busy => Outcome::Limit,
            Self::Trapped | Self::Exited | Self::HostPanic => Outcome::Trapped,
            Self::PluginRefused | Self::PluginLoading => Outcome::Refused,
        }
    }

    /// The stable name.
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
            Self::ApprovalDenied => "approval-denied",
            Self::ApprovalPending => "approval-pending",
            Self::ReviewRefused => "review-refused",
            Self::HookRefused => "hook-refused",
            Self::DependencyNotGranted => "dependency-not-granted",
            Self::RecordUnavailable => "record-unavailable",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
            Self::Limit(kind) => limit_code(kind),
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
    /// The tool as it was asked for; untrusted text.
    pub tool: String,
    /// What happened.
    pub code: Code,
    /// The tool's answer, where it gave one; untrusted content.
    pub output: Option<Output>,
    /// A few words of the tool about its answer; untrusted text.
    pub title: Option<String>,
    /// What the tool adds for programs: a JSON object.
    pub metadata: Option<Value>,
    /// What a model is told. Words of a plugin in it stand behind a label of the host's.
    pub message: String,
    /// Where the whole of an answer is kept that was too large to be passed on whole.
    pub reference: Option<Reference>,
    /// When another try may help, where the tool said so or its plugin is still being compiled.
    pub retry_after: Option<Duration>,
    /// The id of the approval request that the call waits for, if its code is [`Code::ApprovalPending`].
    pub approval_request: Option<String>,
    /// What the call took.
    pub usage: CallUsage,
}

impl Reply {
    /// The reply of a call that has an answer.
    pub(crate) fn completed(id: String, tool: String, output: Output, message: String) -> Self {
        Self { output: Some(output), ..Self::failed(id, tool, Code::Completed, message) }
    }

    /// The reply of a call that ended without an answer.
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
        }
    }

    /// The same reply without its answer.
    pub(crate) fn withheld(self, code: Code, message: String) -> Self {
        Self { code, output: None, title: None, metadata: None, message, reference: None, ..self }
    }

    /// How the call ended.
    pub fn outcome(&self) -> Outcome {
        self.code.outcome()
    }
}

/// What a call took, in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallUsage {
    /// What the run in the sandbox took.
    pub run: Usage,
    /// Bytes of arguments handed to the guest.
    pub bytes_in: u64,
    /// Bytes of output taken from it.
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
                // Shaping has parsed it, so it is JSON; were it not, it would go out as a string.
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
                part.serialize_entry("data", &base64(&blob.data))?;
            }
        }
        part.end()
    }
}

/// Base64 with padding, RFC 4648 section 4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let index = usize::try_from(group >> (18 - 6 * at) & 63).unwrap_or(0);
            text.push(if at <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}
