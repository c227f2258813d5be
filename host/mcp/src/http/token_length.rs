//! How long a bearer token may be.

/// Minimum length of a token, in bytes. A random token of this length has at least 128 bits.
pub const TOKEN_BYTES_MIN: usize = 32;
/// Maximum length of a token, in bytes. The headers of a request leave room for it.
pub const TOKEN_BYTES_MAX: usize = 512;
