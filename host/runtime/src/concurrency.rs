//! Limits on concurrent calls.

/// Default maximum of concurrent calls. Each may use its whole memory limit, so this bounds the host's memory. A small
/// machine has 16 times 64 MiB.
pub const CALLS_DEFAULT: u32 = 16;

/// Maximum concurrent calls that can be configured. The engine reserves address space for each.
pub const CALLS_MAX: u32 = 512;
