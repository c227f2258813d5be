//! How many calls run at one time.

/// Calls that run at one time unless said otherwise. Each may take its whole memory limit, so this bounds the host's
/// memory: 16 times 64 MiB is what a small machine can give.
pub const CALLS_DEFAULT: u32 = 16;

/// Maximum calls at one time. The pool reserves address space for each.
pub const CALLS_MAX: u32 = 512;
