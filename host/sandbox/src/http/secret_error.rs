//! The error for a secret that cannot be used.

/// Minimum length of a secret, in bytes. Shorter text also occurs by chance, so it could not be redacted.
pub(super) const SECRET_BYTES_MIN: usize = 8;
/// Maximum length of a secret, in bytes: what servers accept in one header.
pub(super) const SECRET_BYTES_MAX: usize = 8192;

/// The error for a secret that cannot be used. The message reveals nothing about the secret.
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
    #[error("it is shorter than {SECRET_BYTES_MIN} bytes, too short to distinguish it from other text")]
    Short,
    #[error("it is longer than {SECRET_BYTES_MAX} bytes")]
    Long,
    #[error("it contains a line break or another character that cannot be sent")]
    Characters,
    #[error("the host already searches for the maximum number of secrets")]
    Many,
    #[error("the host could not prepare the search for it")]
    Internal,
}
