//! The source of a secret, and its place in a request.
//!
//! This file must not know the secret itself.

use std::fmt;

use super::describe::plain;
use super::limits::{ARGUMENT_BYTES, ARGUMENTS, PATH_BYTES};
use super::place::GrantPlaceKind;
use super::{BindingError, read_path};
use crate::destination::Destination;
use crate::host_pattern::HostPattern;

/// Maximum bytes of a user name for Basic authentication. Email addresses fit.
const USER_BYTES: usize = 256;
/// Maximum bytes of the name of a query parameter.
const QUERY_NAME_BYTES: usize = 64;

/// A secret that the host adds to requests to one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretBinding {
    /// The host that gets the secret. It is one of the exact hosts of the client.
    pub host: HostPattern,
    /// The place of the secret in a request.
    pub slot: SecretSlot,
    /// The source of the secret.
    pub from: SecretSource,
}

/// The place of a secret in a request. A guest cannot set it.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSlot {
    /// A header with a lower-case name. Its value is a template with exactly one `{}`.
    Header {
        /// The name of the header.
        name: String,
        /// The template.
        value: String,
    },
    /// HTTP Basic authentication (RFC 7617) with this user and the secret as the password.
    Basic {
        /// The user name.
        user: String,
    },
    /// A query parameter.
    Query {
        /// The name of the parameter.
        name: String,
    },
}

impl SecretSlot {
    /// Returns the header's value: the template with the secret in place of `{}`.
    pub fn fill(template: &str, secret: &str) -> String {
        // Use `split_once` instead of `replace`, so that `{}` within the secret stays unchanged.
        // `read_template` has checked that the template has one `{}`, so the default is never used.
        let (before, after) = template.split_once("{}").unwrap_or_default();
        [before, secret, after].concat()
    }

    /// Returns the header that the host sets, in lower case.
    pub fn header(&self) -> Option<&str> {
        match self {
            Self::Header { name, .. } => Some(name),
            Self::Basic { .. } => Some("authorization"),
            Self::Query { .. } => None,
        }
    }
}

impl fmt::Debug for SecretSlot {
    /// Omits the template, because the user may have written the secret itself into it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { name, .. } => formatter.debug_struct("Header").field("name", name).finish_non_exhaustive(),
            Self::Basic { user } => formatter.debug_struct("Basic").field("user", user).finish(),
            Self::Query { name } => formatter.debug_struct("Query").field("name", name).finish(),
        }
    }
}

/// The source of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable of the host.
    Env(String),
    /// A file.
    File(String),
    /// The output of a program without its final line feed. The host runs it without a shell.
    Command(Vec<String>),
}

impl SecretBinding {
    /// Returns whether a request to `destination` gets the secret. The client has exactly one scheme and port, which
    /// need no check here.
    pub fn is_for(&self, destination: &Destination) -> bool {
        self.host.matches(&destination.host().to_string())
    }

    /// Describes the source of the secret and its place in a request, never the secret itself.
    pub(super) fn describe(&self) -> String {
        let from = self.from.describe();
        let slot = match &self.slot {
            SecretSlot::Header { name, .. } => format!("in the header {}", plain(name)),
            SecretSlot::Basic { user } => format!("as the password of the user {}", plain(user)),
            SecretSlot::Query { name } => format!("in the parameter {}", plain(name)),
        };
        format!("with the secret from {from} {slot} for {}", self.host)
    }

    /// Returns the file or the program that the secret comes from.
    pub(super) fn place(&self) -> Option<(GrantPlaceKind, &str)> {
        self.from.place()
    }
}

impl SecretSource {
    /// Describes the source, never the secret itself.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Env(name) => format!("the variable {}", plain(name)),
            Self::File(path) => format!("the file {}", plain(path)),
            Self::Command(words) => {
                let words: Vec<String> = words.iter().map(|word| plain(word)).collect();
                format!("the command {}", words.join(" "))
            }
        }
    }

    /// Returns the file or the program that the secret comes from.
    pub(super) fn place(&self) -> Option<(GrantPlaceKind, &str)> {
        match self {
            Self::File(file) => Some((GrantPlaceKind::Secret, file)),
            Self::Command(words) => {
                // A name without a slash is found through the user's PATH.
                let program = words.first().filter(|program| program.contains('/'));
                program.map(|program| (GrantPlaceKind::Program, program.as_str()))
            }
            Self::Env(_) => None,
        }
    }
}

pub(crate) fn read_template(text: &str) -> Result<String, BindingError> {
    // A line break would begin another header.
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let sound = visible && text.len() <= PATH_BYTES && text.matches("{}").count() == 1;
    if sound { Ok(text.to_owned()) } else { Err(BindingError::Template) }
}

pub(crate) fn read_user(text: &str) -> Result<String, BindingError> {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    // The first colon ends the user name (RFC 7617, section 2).
    let sound = visible && (1..=USER_BYTES).contains(&text.len()) && !text.contains(':');
    if sound { Ok(text.to_owned()) } else { Err(BindingError::User) }
}

pub(crate) fn read_query_name(text: &str) -> Result<String, BindingError> {
    let spelt = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let sound = spelt && (1..=QUERY_NAME_BYTES).contains(&text.len());
    if sound { Ok(text.to_owned()) } else { Err(BindingError::QueryName) }
}

pub(crate) fn read_source(text: &str) -> Result<SecretSource, BindingError> {
    match text.split_once(':') {
        Some(("env", name)) if is_variable(name) => Ok(SecretSource::Env(name.to_owned())),
        Some(("file", path)) => read_path(path).map(SecretSource::File).map_err(|_| BindingError::SecretSource),
        Some(_) | None => Err(BindingError::SecretSource),
    }
}

/// Checks a program and its arguments.
pub(crate) fn read_words(words: &[&str]) -> Result<Vec<String>, BindingError> {
    // A program gets its arguments as C strings, which a NUL ends (execve(2)).
    let long = |word: &&str| word.len() > ARGUMENT_BYTES || word.contains('\0');
    let sound = (1..=ARGUMENTS).contains(&words.len()) && !words.iter().any(long) && !words[0].is_empty();
    let owned = || words.iter().map(|word| (*word).to_owned()).collect();
    if sound { Ok(owned()) } else { Err(BindingError::Command) }
}

/// Returns whether `name` is a valid name of a shell variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && (1..=PATH_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_parts_of_a_secret_are_refused() {
        for text in ["", "Bearer", "{}{}", "{ }", "Bearer {}\r\nx: y", "Bearer\t{}", "Bearer é{}", "{}\0"] {
            assert_eq!(read_template(text), Err(BindingError::Template), "{text:?}");
        }
        for text in ["", "GITHUB_TOKEN", "env:", "env:A B", "env:1A", "env:A=B", "file:", "file:\0", "vault:x", "ENV:A"]
        {
            assert_eq!(read_source(text), Err(BindingError::SecretSource), "{text:?}");
        }
        for text in ["", "a:b", "a\r\n", "a\0", "é", &"a".repeat(USER_BYTES + 1)] {
            assert_eq!(read_user(text), Err(BindingError::User), "{text:?}");
        }
        for text in ["", "a=b", "a&b", "a b", "a%20", "é", "{}", &"a".repeat(QUERY_NAME_BYTES + 1)] {
            assert_eq!(read_query_name(text), Err(BindingError::QueryName), "{text:?}");
        }
        let (many, long) = (["a"; ARGUMENTS + 1], "a".repeat(ARGUMENT_BYTES + 1));
        for words in [&[][..], &[""], &["a", "b\0"], &many, &["a", &long]] {
            assert_eq!(read_words(words), Err(BindingError::Command), "{words:?}");
        }
    }

    #[test]
    fn valid_parts_of_a_secret_are_kept_unchanged() {
        assert_eq!(read_template("Bearer {}").unwrap(), "Bearer {}");
        assert_eq!(read_user("x-access-token").unwrap(), "x-access-token");
        assert_eq!(read_query_name("api_key").unwrap(), "api_key");
        let words = ["a"; ARGUMENTS];
        assert_eq!(read_words(&words).unwrap(), words.map(str::to_owned).to_vec());
    }

    #[test]
    fn a_template_is_filled_once_whatever_the_secret_contains() {
        assert_eq!(SecretSlot::fill("Bearer {}", "a{}b"), "Bearer a{}b");
        assert_eq!(SecretSlot::fill("{}", ""), "");
    }

    #[test]
    fn the_debug_output_of_a_slot_omits_the_template() {
        let slot = SecretSlot::Header { name: "a".to_owned(), value: "canary {}".to_owned() };
        assert!(!format!("{slot:?}").contains("canary"));
    }
}
