//! Why there is no secret.

/// The shortest secret, in bytes: what is shorter also occurs by chance, and could not be redacted.
pub(super) const SECRET_BYTES_MIN: usize = 8;
/// The longest secret, in bytes: what servers take in one header.
pub(super) const SECRET_BYTES_MAX: usize = 8192;

/// Why there is no secret. Says nothing of what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("its environment variable is not set")]
    Unset,
    #[error("its file cannot be read")]
    File,
    #[error("its file is not a regular file")]
    Irregular,
    #[error("its program does not start, or ends with an error")]
    Command,
    #[error("its program takes too long")]
    Slow,
    #[error("it is shorter than {SECRET_BYTES_MIN} bytes, too short to be told from other text")]
    Short,
    #[error("it is longer than {SECRET_BYTES_MAX} bytes")]
    Long,
    #[error("it has a line break or another character that cannot be sent where it belongs")]
    Characters,
    #[error("the host looks for so many secrets that it has no room for this one")]
    Many,
    #[error("the host could not prepare to look for it")]
    Internal,
}
