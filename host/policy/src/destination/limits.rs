//! Maximum lengths of a URL and of its parts.

/// The longest URL, in bytes: what common servers take as a request line.
pub const URL_BYTES: usize = 8 * 1024;
/// The longest host name that the domain name system has, in bytes.
pub(crate) const HOST_BYTES: usize = 253;
/// The longest label of a host name that the domain name system has, in bytes.
pub(crate) const LABEL_BYTES: usize = 63;
