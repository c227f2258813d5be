//! Why a run ended without an answer, told from whatever error the engine gave.

use crate::clock::Expired;
use crate::context::OutputFull;
use crate::host_memory::HostMemoryFull;
use wasmtime::Trap;
use wasmtime_wasi::{I32Exit, ResourceTableError};
use wasmtime_wasi_http::FieldMapError;

/// The most of an engine's error text that is kept for the operator, in bytes.
const DETAIL_BYTES_MAX: usize = 2048;

/// A limit that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// Wall-clock time, waiting included.
    Time,
    /// Linear memory, all memories of the call together.
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
    /// Memory that the host holds for the call, outside the guest's own memory.
    HostMemory,
    /// Bytes of one request for randomness.
    Random,
    /// Bytes of the answer.
    Output,
    /// Bytes of the answer that the guest writes while it runs.
    KeptOutput,
    /// Sandboxes at one time, in this process.
    Concurrency,
}

impl LimitKind {
    /// The stable name, as it stands in codes and records.
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

/// Why a run has no answer. The store is gone in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A limit was reached.
    Limit(LimitKind),
    /// The guest trapped, or answered with bytes the contract does not allow. The text is for the operator and may
    /// hold the guest's words.
    Trapped(String),
    /// The guest asked to exit with this status.
    Exited(i32),
    /// The caller cancelled and the grace period passed.
    Cancelled,
    /// The host itself panicked while it served the guest.
    HostPanic,
}

impl Stop {
    /// Tells an engine error apart. `limit` is a growth that was refused earlier in the run: a guest that traps after
    /// it trapped because of it.
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

/// The limits that the engine reports by text alone. The engine's version is pinned, and the hostile guests fail if a
/// patch changes these words.
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
