//! Why a run ended without an answer, derived from the engine's error.

use crate::clock::Expired;
use crate::context::OutputFull;
use crate::host_memory::HostMemoryFull;
use wasmtime::Trap;
use wasmtime_wasi::{I32Exit, ResourceTableError};
use wasmtime_wasi_http::FieldMapError;

/// Maximum bytes of an engine's error text that are kept for the operator.
const DETAIL_BYTES_MAX: usize = 2048;

/// A limit that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// Wall-clock time, including waiting.
    Time,
    /// Linear memory of all memories of the call together.
    Memory,
    /// Elements of tables.
    TableElements,
    /// Core instances, memories or tables of one store.
    Instances,
    /// The guest's stack.
    Stack,
    /// Bytes copied from the guest in one host call.
    Transfer,
    /// Component handles.
    Handles,
    /// Host resources behind the handles.
    Resources,
    /// Memory that the host uses for the call, outside the guest's own memory.
    HostMemory,
    /// Bytes of one request for randomness.
    Random,
    /// Bytes of the answer.
    Output,
    /// Bytes of the answer that the guest writes while it runs.
    KeptOutput,
    /// Concurrent sandboxes in this process.
    Concurrency,
}

impl LimitKind {
    /// Returns the stable name that codes and audit entries use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::TableElements => "table-elements",
            Self::Instances => "instances",
            Self::Stack => "stack",
            Self::Transfer => "transfer",
            Self::Handles => "handles",
            Self::Resources => "resources",
            Self::HostMemory => "host-memory",
            Self::Random => "random",
            Self::Output => "output",
            Self::KeptOutput => "kept-output",
            Self::Concurrency => "concurrency",
        }
    }
}

/// Why a run has no answer. Its store was dropped in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A limit was reached.
    Limit(LimitKind),
    /// The guest trapped, or returned bytes that the contract does not allow. The text is for the operator, and may
    /// contain untrusted text of the guest.
    Trapped(String),
    /// The guest asked to exit with this status.
    Exited(i32),
    /// The caller cancelled and the grace period passed.
    Cancelled,
    /// The host itself panicked while it served the guest.
    HostPanic,
}

impl Stop {
    /// Converts an engine error. `limit` is the limit of a growth that was refused earlier in the run. A trap after
    /// such a refusal is attributed to that limit.
    pub(crate) fn from_error(error: &wasmtime::Error, limit: Option<LimitKind>) -> Self {
        if let Some(expired) = error.downcast_ref::<Expired>() {
            return match expired {
                Expired::Time => Self::Limit(LimitKind::Time),
                Expired::Cancelled => Self::Cancelled,
            };
        }
        if let Some(exit) = error.downcast_ref::<I32Exit>() {
            return Self::Exited(exit.0);
        }
        if matches!(error.downcast_ref(), Some(Trap::StackOverflow)) {
            return Self::Limit(LimitKind::Stack);
        }
        if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) {
            return Self::Limit(LimitKind::Resources);
        }
        let too_many_fields =
            matches!(error.downcast_ref(), Some(FieldMapError::TotalSizeTooBig | FieldMapError::TooManyFields));
        if too_many_fields || error.downcast_ref::<HostMemoryFull>().is_some() {
            return Self::Limit(LimitKind::HostMemory);
        }
        if error.downcast_ref::<OutputFull>().is_some() {
            return Self::Limit(LimitKind::KeptOutput);
        }
        if error.downcast_ref::<wasmtime::PoolConcurrencyLimitError>().is_some() {
            return Self::Limit(LimitKind::Concurrency);
        }
        let text = format!("{error:#}");
        match limit.or_else(|| limit_in(&text)) {
            Some(limit) => Self::Limit(limit),
            None => Self::Trapped(truncated(text)),
        }
    }
}

/// Recognises the limits that the engine reports only by text. The engine's version is pinned, and the tests with
/// hostile guests fail if an update changes these texts.
fn limit_in(text: &str) -> Option<LimitKind> {
    const WORDS: [(&str, LimitKind); 5] = [
        ("fuel allocated for hostcalls has been exhausted", LimitKind::Transfer),
        ("store handle limit exceeded", LimitKind::Handles),
        ("resource limit exceeded", LimitKind::Instances),
        ("requested len", LimitKind::Random),
        ("exceeds memory limits", LimitKind::Memory),
    ];
    WORDS.iter().find(|(words, _)| text.contains(words)).map(|(_, limit)| *limit)
}

fn truncated(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(DETAIL_BYTES_MAX));
    text
}
