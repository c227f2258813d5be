//! What an engine is made for: how large its pool is, and why there is no engine.

use portcullis_policy::Limits;

/// A fiber's stack, in bytes. Host functions run on what the guest leaves of it: 1.5 MiB, wasmtime's advice.
pub(crate) const FIBER_STACK_BYTES: usize = 2 * 1024 * 1024;

/// Linear memory of an idle slot that stays mapped, in bytes. Measured: the most that is still faster, see
/// `docs/performance.md`.
pub(crate) const MEMORY_KEEP_RESIDENT_BYTES: usize = 512 * 1024;

/// Table memory of an idle slot that stays mapped, in bytes.
pub(crate) const TABLE_KEEP_RESIDENT_BYTES: usize = 64 * 1024;

/// Reviews that run at one time, beside the admitted calls. Each takes two seconds at most.
pub const REVIEW_SLOTS: u32 = 2;

/// Plugins that describe themselves at one time, beside the admitted calls. Each takes a few milliseconds, and a bad
/// one a few seconds.
pub const DESCRIBE_SLOTS: u32 = 2;

/// How large the pool is.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Calls that can run at one time.
    pub calls: u32,
    /// The largest limits any call can have.
    pub largest: Limits,
    /// The longest value that any store of a call may hold, in bytes; 0 if no call has one.
    pub store_value_bytes: usize,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[error("the WebAssembly engine cannot start: {0}")]
pub struct EngineError(String);

impl EngineError {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }
}

impl From<wasmtime::Error> for EngineError {
    fn from(error: wasmtime::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

pub(crate) fn slots(config: &EngineConfig) -> u32 {
    config.calls.saturating_add(REVIEW_SLOTS + DESCRIBE_SLOTS)
}
