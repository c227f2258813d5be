//! Maximum lengths of a URL and of its parts.

/// Maximum bytes of a URL: what common servers accept as a request line.
pub const URL_BYTES: usize = 8 * 1024;
/// Maximum bytes of a host name in the DNS.
pub(crate) const HOST_BYTES: usize = 253;
/// Maximum bytes of a label in the DNS.
pub(crate) const LABEL_BYTES: usize = 63;
