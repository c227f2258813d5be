//! Where a secret is from, and the one place of a request it goes to.
//!
//! It must not know the secret.

use std::fmt;

use super::limits::{ARGUMENT_BYTES, ARGUMENTS, PATH_BYTES};
use super::{BindingError, read_path};
use crate::destination::Destination;
use crate::host_pattern::HostPattern;

/// The longest user of Basic authentication, in bytes: longer than an address of mail.
const USER_BYTES: usize = 256;
/// The longest name of a parameter, in bytes.
const QUERY_NAME_BYTES: usize = 64;

/// A secret, which the host adds at the boundary to requests to one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretBinding {
    /// The one host it is sent to: an exact one of those the client reaches.
    pub host: HostPattern,
    /// Where in a request it goes.
    pub slot: SecretSlot,
    /// Where the host finds the secret.
    pub from: SecretSource,
}

/// Where in a request a secret goes. A guest cannot set it.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSlot {
    /// A header, by its name in lower case; the value is a template with exactly one `{}`.
    Header {
        /// Its name.
        name: String,
        /// The template.
        value: String,
    },
    /// HTTP Basic authentication (RFC 7617) with this user and the secret as the password.
    Basic {
        /// The user.
        user: String,
    },
    /// A parameter of the query, by its name.
    Query {
        /// Its name.
        name: String,
    },
}

impl SecretSlot {
    /// The header's value around `secret`.
    pub fn fill(template: &str, secret: &str) -> String {
        // Not `replace`, so that braces within the secret stay as they are whatever the template holds.
        let (before, after) = template.split_once("{}").unwrap_or_default();
        [before, secret, after].concat()
    }

    /// The header that the host sets, in lower case.
    pub fn header(&self) -> Option<&str> {
        match self {
            Self::Header { name, .. } => Some(name),
            Self::Basic { .. } => Some("authorization"),
            Self::Query { .. } => None,
        }
    }
}

impl fmt::Debug for SecretSlot {
    /// Leaves the template out: somebody may have written the secret itself into it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { name, .. } => formatter.debug_struct("Header").field("name", name).finish_non_exhaustive(),
            Self::Basic { user } => formatter.debug_struct("Basic").field("user", user).finish(),
            Self::Query { name } => formatter.debug_struct("Query").field("name", name).finish(),
        }
    }
}

/// Where the host finds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In this environment variable of the host.
    Env(String),
    /// In this file.
    File(String),
    /// In what this program prints, without the line feed at its end; run without a shell.
    Command(Vec<String>),
}

impl SecretBinding {
    /// Whether a request to `destination` gets the secret. Scheme and port are those of the client, which has one each.
    pub fn is_for(&self, destination: &Destination) -> bool {
        self.host.matches(&destination.host().to_string())
    }
}

pub(crate) fn read_template(text: &str) -> Result<String, BindingError> {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let sound = visible && text.len() <= PATH_BYTES && text.matches("{}").count() == 1;
    if sound { Ok(text.to_owned()) } else { Err(BindingError::Template) }
}

pub(crate) fn read_user(text: &str) -> Result<String, BindingError> {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
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

pub(crate) fn read_command(words: &[&str]) -> Result<SecretSource, BindingError> {
    let long = |word: &&str| word.len() > ARGUMENT_BYTES || word.contains('\0');
    let sound = (1..=ARGUMENTS).contains(&words.len()) && !words.iter().any(long) && !words[0].is_empty();
    let owned = || words.iter().map(|word| (*word).to_owned()).collect();
    if sound { Ok(SecretSource::Command(owned())) } else { Err(BindingError::Command) }
}

/// Whether `name` is in the grammar that shells have for variables.
fn is_variable(name: &str) -> bool {
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
            assert_eq!(read_command(words), Err(BindingError::Command), "{words:?}");
        }
    }

    #[test]
    fn sound_parts_of_a_secret_are_kept_as_they_are() {
        assert_eq!(read_template("Bearer {}").unwrap(), "Bearer {}");
        assert_eq!(read_user("x-access-token").unwrap(), "x-access-token");
        assert_eq!(read_query_name("api_key").unwrap(), "api_key");
        let words = ["a"; ARGUMENTS];
        assert_eq!(read_command(&words).unwrap(), SecretSource::Command(words.map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_template_is_filled_once_whatever_the_secret_holds() {
        assert_eq!(SecretSlot::fill("Bearer {}", "a{}b"), "Bearer a{}b");
        assert_eq!(SecretSlot::fill("{}", ""), "");
    }

    #[test]
    fn what_is_printed_of_a_slot_has_no_template() {
        let slot = SecretSlot::Header { name: "a".to_owned(), value: "canary {}".to_owned() };
        assert!(!format!("{slot:?}").contains("canary"));
    }
}
