//! Maximum size of a policy.

/// The longest text of a policy, in bytes. People write and review policies; nobody reviews a megabyte.
pub const POLICY_BYTES: usize = 1024 * 1024;
/// The most rules in a policy. Each call looks at all of them, and this many take about a millisecond.
pub const POLICY_RULES: usize = 10_000;
