//! Maximum sizes of paths and commands in bindings.

/// Maximum bytes of a path in a policy, as on common systems.
pub const PATH_BYTES: usize = 4096;
/// Maximum words of a command. A longer command belongs in a script.
pub(super) const ARGUMENTS: usize = 32;
/// Maximum bytes of one word of a command, as for a path.
pub(super) const ARGUMENT_BYTES: usize = 4096;
