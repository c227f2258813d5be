//! Why something is no destination, in words for a model.
//!
//! No part of the URL is repeated: it is hostile, and may hold a password.

use super::limits::URL_BYTES;

/// Why something is no destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// It is longer than [`URL_BYTES`].
    #[error("the URL is longer than {URL_BYTES} bytes")]
    TooLong,
    /// No absolute URL at all.
    #[error("this is no absolute URL; write one such as https://example.com/page")]
    Syntax,
    /// Neither http nor https.
    #[error("the scheme is neither http nor https")]
    Scheme,
    /// A user or a password.
    #[error("the URL holds a user or a password; write it without them")]
    User,
    /// Space, a tab, a line break, a control character or a backslash, which parsers drop or repair.
    #[error("the URL holds white space, a control character or a backslash; write it without, or escaped as in %20")]
    Unescaped,
    /// No host.
    #[error("the URL names no host")]
    NoHost,
    /// A character that no host has.
    #[error("the host holds a character that no host name has; write it in plain letters, digits, `-` and dots")]
    HostCharacter,
    /// An empty, too long or misspelt label, or too many of them.
    #[error("this is no host name: its labels are 1 to 63 letters, digits and `-`, and all of it is at most 253 bytes")]
    HostName,
    /// A label in punycode that stands for nothing, or for what has a plainer spelling.
    #[error("the host has an `xn--` label that is not the punycode of a name")]
    HostPunycode,
    /// Letters that stand for other letters.
    #[error("the host is written in letters that stand for others; write its plain name")]
    HostLetters,
    /// An address, but in a spelling that programs read differently.
    #[error("the host is an address in an unusual spelling; write four decimal numbers without leading zeros")]
    HostAddress,
    /// In brackets, but no address of version 6. Zones are none, either.
    #[error("this is no IPv6 address in brackets; write one such as [2001:db8::1], without a zone")]
    HostAddress6,
    /// No number from 1 to 65535 in plain decimal.
    #[error("the port is no number from 1 to 65535 in plain decimal; leave out the colon for the port of the scheme")]
    Port,
    /// The path begins otherwise than with exactly one slash.
    #[error("the path does not begin with exactly one slash")]
    PathStart,
    /// A character that no path or query has.
    #[error("path or query holds a character that must be escaped: anything but visible ASCII, `#`, or a backslash")]
    PathCharacter,
    /// A percent sign without two hexadecimal digits.
    #[error("a percent sign in path or query begins no escape; write %25 for it")]
    PathEscape,
    /// An escaped control character, or an overlong spelling of another.
    #[error("the path holds an escaped control character or an overlong one (%00, %c0), which is never sent")]
    PathHidden,
    /// A segment that is `.` or `..` in any spelling.
    #[error("the path holds a `.` or `..` segment; write the path that it leads to")]
    PathDots,
}
