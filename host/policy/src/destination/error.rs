//! Why a text is not a destination, as messages for a model.
//!
//! Messages repeat no part of the URL, because it is hostile and may contain a password.

use super::limits::URL_BYTES;

/// Why a text is not a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// It is longer than [`URL_BYTES`].
    #[error("the URL is longer than {URL_BYTES} bytes")]
    TooLong,
    /// It is not an absolute URL.
    #[error("this is not an absolute URL; write one such as https://example.com/page")]
    Syntax,
    /// The scheme is neither http nor https.
    #[error("the scheme is neither http nor https")]
    Scheme,
    /// It contains a user name or a password.
    #[error("the URL contains a user name or a password; remove it")]
    User,
    /// It contains a space, a tab, a line break, a control character or a backslash. Parsers drop or repair these.
    #[error("the URL contains white space, a control character or a backslash; remove it, or escape it as in %20")]
    Unescaped,
    /// It has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The host contains a character that is invalid in hosts.
    #[error("the host contains an invalid character; use only letters, digits, `-` and dots")]
    HostCharacter,
    /// A label is empty, too long or misspelled, or there are too many.
    #[error("invalid host name; use labels of 1 to 63 letters, digits and `-`, and at most 253 bytes in all")]
    HostName,
    /// A punycode label is invalid, or the name has a plainer spelling.
    #[error("the host has an `xn--` label that is not valid punycode")]
    HostPunycode,
    /// The host contains letters that are replaced by others.
    #[error("the host contains letters that are replaced by others in a host name; write its plain name")]
    HostLetters,
    /// The host is an address in a spelling that programs read differently.
    #[error("the host is an address in an unusual spelling; write four decimal numbers without leading zeros")]
    HostAddress,
    /// The text in brackets is not an IPv6 address. An address with a zone is not accepted.
    #[error("invalid IPv6 address in brackets; write one such as [2001:db8::1], without a zone")]
    HostAddress6,
    /// The port is not a number from 1 to 65535 in plain decimal.
    #[error("the port is not a decimal number from 1 to 65535; to use the default port, remove the colon")]
    Port,
    /// The path does not start with exactly one slash.
    #[error("the path does not start with exactly one slash")]
    PathStart,
    /// The path or query contains a character that must be escaped.
    #[error("the path or query contains a character that must be escaped: `#`, a backslash, or non-ASCII text")]
    PathCharacter,
    /// A percent sign is not followed by two hexadecimal digits.
    #[error("the path or query contains a percent sign that starts no escape; write it as %25")]
    PathEscape,
    /// The path contains an escaped control character, or an overlong encoding.
    #[error("the path contains an escaped control character or an overlong encoding (%00, %c0), which is never sent")]
    PathHidden,
    /// A segment is `.` or `..` in any spelling.
    #[error("the path contains a `.` or `..` segment; write the path that it resolves to")]
    PathDots,
}
