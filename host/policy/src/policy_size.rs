//! Maximum sizes of a policy.

/// Maximum bytes of the text of a policy. People write and review policies, and no one reviews more than a megabyte.
pub const POLICY_BYTES: usize = 1024 * 1024;
/// Maximum rules of a policy. Each call is checked against all of them, which takes about a millisecond for this many.
pub const POLICY_RULES: usize = 10_000;
