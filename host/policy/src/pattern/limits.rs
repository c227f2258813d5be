//! Maximum sizes of what is offered and of what a pattern names.

/// The most patterns that are offered for one call: more than these nobody compares before answering.
pub const OFFERS_MAX: usize = 4;
/// The most arguments of a call for which patterns are offered: a person has to read one line with all of them.
pub const PATTERN_ARGUMENTS: usize = 16;
/// The longest text that a pattern names exactly, in bytes: a person has to read it.
pub const EXACT_BYTES: usize = 256;
/// The longest path for which patterns are offered, and which they cover, in bytes: a person has to read it. For a URL
/// it includes scheme, host and port.
pub const RESOURCE_PATH_BYTES: usize = 512;
