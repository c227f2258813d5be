//! The configuration of an engine, and the error for an engine that cannot start.

use portcullis_policy::Limits;

/// Size of a fiber's stack, in bytes. Host functions run on the part that the guest does not use: 1.5 MiB, as wasmtime
/// recommends.
pub(crate) const FIBER_STACK_BYTES: usize = 2 * 1024 * 1024;

/// Linear memory of an idle slot that stays mapped, in bytes. It is the largest value that measurements showed to be
/// faster (`docs/performance.md`).
pub(crate) const MEMORY_KEEP_RESIDENT_BYTES: usize = 512 * 1024;

/// Table memory of an idle slot that stays mapped, in bytes.
pub(crate) const TABLE_KEEP_RESIDENT_BYTES: usize = 64 * 1024;

/// Maximum concurrent reviews, in addition to the admitted calls. Each takes at most two seconds.
pub const REVIEW_SLOTS: u32 = 2;

/// Maximum concurrent descriptions of plugins, in addition to the admitted calls. Each takes a few milliseconds, and
/// that of a bad plugin a few seconds.
pub const DESCRIBE_SLOTS: u32 = 2;

/// The configuration of an engine, which determines the size of its pool.
#[derive(Clone, Copy, Debug)]
pub struct EngineConfig {
    /// Maximum concurrent calls.
    pub calls: u32,
    /// The largest limits of any call.
    pub largest: Limits,
    /// Maximum length of a value in any store of a call, in bytes. 0 if no call has a store.
    pub store_value_bytes: usize,
}

/// The error for an engine that cannot start.
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
