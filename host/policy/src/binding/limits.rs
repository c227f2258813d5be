//! Maximum sizes of paths, commands and lists in bindings.

/// Maximum bytes of a path in a policy, as on common systems.
pub const PATH_BYTES: usize = 4096;
/// Maximum words of a command. A longer command belongs in a script.
pub(super) const ARGUMENTS: usize = 32;
/// Maximum bytes of one word of a command, as for a path.
pub(super) const ARGUMENT_BYTES: usize = 4096;
/// Maximum directories of one program. Each is a mount in every run, and an approver reads the list on one line.
pub(crate) const PROGRAM_DIRECTORIES: usize = 16;
/// Maximum environment variables that a policy sets for one program, and maximum headers of one server. An operator
/// would not review more.
pub(crate) const ENVIRONMENT_ENTRIES: usize = 64;
/// Maximum patterns of one set of tools. An approver reads all of them.
pub(crate) const TOOL_PATTERNS: usize = 64;
/// Maximum scopes that a login to a server asks for. An approver reads all of them.
pub(crate) const SERVER_SCOPES: usize = 64;
