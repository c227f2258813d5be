//! Maximum number and sizes of the patterns that the host offers.

/// Maximum patterns that are offered for one call. An approver would not compare more.
pub const OFFERS_MAX: usize = 4;
/// Maximum arguments of a call for which patterns are offered. The approver reads one line with all of them.
pub const PATTERN_ARGUMENTS: usize = 16;
/// Maximum bytes of a text that a pattern names exactly. The approver has to read it.
pub const EXACT_BYTES: usize = 256;
/// Maximum bytes of a path that patterns are offered for and cover. The approver has to read it. For a URL, it includes
/// scheme, host and port.
pub const RESOURCE_PATH_BYTES: usize = 512;
