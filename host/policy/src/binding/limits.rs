//! Maximum sizes of what a binding names.

/// The longest path in a policy, in bytes: that of common systems.
pub const PATH_BYTES: usize = 4096;
/// The most words of a command. A longer one belongs into a script.
pub(super) const ARGUMENTS: usize = 32;
/// The longest word of a command, in bytes: that of a path.
pub(super) const ARGUMENT_BYTES: usize = 4096;
