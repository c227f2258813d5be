//! The codes of replies, by their names.

use crate::reply::Code;
use portcullis_sandbox::LimitKind;

/// Every code. A test compares it with `docs/codes.md`.
const CODES: [Code; 42] = [
    Code::Completed,
    Code::ToolFailed,
    Code::ToolUnavailable,
    Code::ToolDenied,
    Code::ToolRejectedArguments,
    Code::InvalidOutput,
    Code::MalformedArguments,
    Code::InvalidArguments,
    Code::UnknownTool,
    Code::DefinitionChanged,
    Code::CallerRefused,
    Code::NoSchema,
    Code::PolicyDenied,
    Code::Paused,
    Code::ApprovalDenied,
    Code::ApprovalPending,
    Code::ReviewRefused,
    Code::HookRefused,
    Code::DependencyNotGranted,
    Code::RecordUnavailable,
    Code::Cancelled,
    Code::Superseded,
    Code::Limit(LimitKind::Time),
    Code::Limit(LimitKind::Memory),
    Code::Limit(LimitKind::TableElements),
    Code::Limit(LimitKind::Instances),
    Code::Limit(LimitKind::Stack),
    Code::Limit(LimitKind::Transfer),
    Code::Limit(LimitKind::Handles),
    Code::Limit(LimitKind::Resources),
    Code::Limit(LimitKind::HostMemory),
    Code::Limit(LimitKind::Random),
    Code::Limit(LimitKind::Output),
    Code::Limit(LimitKind::KeptOutput),
    Code::Limit(LimitKind::Concurrency),
    Code::RateLimited,
    Code::Busy,
    Code::PluginLoading,
    Code::Trapped,
    Code::Exited,
    Code::HostPanic,
    Code::PluginRefused,
];

/// Returns the code with a stable name.
pub(super) fn code_of_name(name: &str) -> Option<Code> {
    CODES.into_iter().find(|code| code.as_str() == name)
}
