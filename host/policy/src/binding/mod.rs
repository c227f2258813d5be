//! What a policy binds to a plugin's dependency keys: directories and HTTP clients.
//!
//! A binding only names things. It must not know how a name becomes a handle, and it never holds a secret: it says
//! where the host will find one.

use std::fmt;

use crate::host_pattern::HostPattern;
use crate::pointer::Pointer;

mod http;
mod service;
mod store;

pub use http::{HttpBinding, HttpLimits, HttpRefusal, Unnamed};
pub use service::ServiceBinding;
pub use store::{StoreBinding, StoreScope};

/// The longest path in a policy, in bytes: that of common systems.
pub const PATH_BYTES: usize = 4096;

/// What a policy binds to one key of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// A directory of the host.
    Directory(DirectoryBinding),
    /// An HTTP client that reaches some hosts.
    Http(Box<HttpBinding>),
    /// A store of keys and values.
    Store(StoreBinding),
    /// A service of the application that embeds the host.
    Service(ServiceBinding),
}

impl Binding {
    /// The binding in one line, for people: all that it grants, and where a secret is from, never the secret.
    pub fn describe(&self) -> String {
        match self {
            Self::Directory(directory) => format!("the directory {}, {}", directory.path, directory.access),
            Self::Http(http) => {
                let hosts: Vec<String> = http.hosts.iter().map(ToString::to_string).collect();
                format!("{} to {}", http.methods.join(" "), hosts.join(" "))
            }
            Self::Store(_) => "a store".to_owned(),
            Self::Service(service) => format!("the service {}", service.name),
        }
    }
}

/// What a guest may do with a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Access {
    /// Look at it and at all that is in it.
    #[default]
    ReadOnly,
    /// Change it, too.
    ReadWrite,
}

impl Access {
    /// The word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadWrite => "read-write",
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, BindingError> {
        let known = [Self::ReadOnly, Self::ReadWrite].into_iter().find(|access| access.as_str() == text);
        known.ok_or(BindingError::Access)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A directory of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryBinding {
    /// Its path; the host resolves a relative one against the directory of the policy.
    pub path: String,
    /// What a guest may do with it.
    pub access: Access,
    /// The argument whose path is all that a call may touch.
    pub narrow: Option<Pointer>,
}

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

/// Why a binding cannot be what the policy says. No text of the policy is repeated, since it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The access is none of the two words.
    #[error("this is not a kind of access")]
    Access,
    /// The path is empty, too long, or holds a control character.
    #[error("this is not a path")]
    Path,
    /// The method is no upper-case word, or one that no binding sends.
    #[error("this is not a method that a plugin may send")]
    Method,
    /// The header is no lower-case name.
    #[error("this is not the name of a header in lower case")]
    Header,
    /// The header decides where a request goes or ends.
    #[error("the host sets this header itself")]
    ReservedHeader,
    /// The template does not have exactly one `{}`, or holds something other than visible ASCII and spaces.
    #[error("this is not a template with exactly one `{{}}`")]
    Template,
    /// The source is neither a variable nor a file.
    #[error("this does not say where the secret is")]
    SecretSource,
}

impl BindingError {
    /// What to write instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Access => "write `read-only` or `read-write`",
            Self::Path => "write the path of a directory, without control characters",
            Self::Method => "write a method such as \"GET\" in upper case; CONNECT and TRACE are never sent",
            Self::Header => "write a name such as \"authorization\" in lower case",
            Self::ReservedHeader => "send the secret in another header, such as \"authorization\"",
            Self::Template => "write a value such as \"Bearer {}\", and the secret itself nowhere",
            Self::SecretSource => "write \"env:NAME\" or \"file:PATH\", and the secret itself nowhere",
        }
    }
}

/// Headers by which a request would go elsewhere or end elsewhere than the host has checked.
const RESERVED_HEADERS: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Methods that turn a client into a tunnel, or a server into an echo of its secrets.
const REFUSED_METHODS: [&str; 2] = ["CONNECT", "TRACE"];

/// The longest method or header name, in bytes: longer than any that is registered.
const TOKEN_BYTES: usize = 64;

pub(crate) fn read_path(text: &str) -> Result<String, BindingError> {
    let sound = !text.is_empty() && text.len() <= PATH_BYTES && !text.chars().any(char::is_control);
    if sound { Ok(text.to_owned()) } else { Err(BindingError::Path) }
}

pub(crate) fn read_method(text: &str) -> Result<String, BindingError> {
    let spelt = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    let sound = (1..=TOKEN_BYTES).contains(&text.len()) && spelt && !text.starts_with('-');
    if sound && !REFUSED_METHODS.contains(&text) { Ok(text.to_owned()) } else { Err(BindingError::Method) }
}

pub(crate) fn read_header(text: &str) -> Result<String, BindingError> {
    let spelt = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !spelt || !(1..=TOKEN_BYTES).contains(&text.len()) {
        return Err(BindingError::Header);
    }
    if RESERVED_HEADERS.contains(&text) { Err(BindingError::ReservedHeader) } else { Ok(text.to_owned()) }
}

pub(crate) fn read_template(text: &str) -> Result<String, BindingError> {
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let sound = visible && text.len() <= PATH_BYTES && text.matches("{}").count() == 1;
    if sound { Ok(text.to_owned()) } else { Err(BindingError::Template) }
}

pub(crate) fn read_source(text: &str) -> Result<SecretSource, BindingError> {
    match text.split_once(':') {
        Some(("env", name)) if is_variable(name) => Ok(SecretSource::Env(name.to_owned())),
        Some(("file", path)) => read_path(path).map(SecretSource::File).map_err(|_| BindingError::SecretSource),
        Some(_) | None => Err(BindingError::SecretSource),
    }
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
    fn malformed_parts_of_a_binding_are_refused() {
        for text in ["", "readonly", "read-write ", "Read-Only", "rw", "write"] {
            assert_eq!(Access::read(text), Err(BindingError::Access), "{text:?}");
        }
        for text in ["", "a\0b", "a\nb", &"a".repeat(PATH_BYTES + 1)] {
            assert_eq!(read_path(text), Err(BindingError::Path), "{text:?}");
        }
        for text in ["", "get", "Get", "GET ", "*", "GET,POST", "CONNECT", "TRACE", "-", "G\r\nX"] {
            assert_eq!(read_method(text), Err(BindingError::Method), "{text:?}");
        }
        for text in ["", "Authorization", "a b", "a:", "a\r\n", ":authority", "é"] {
            assert_eq!(read_header(text), Err(BindingError::Header), "{text:?}");
        }
        for text in RESERVED_HEADERS {
            assert_eq!(read_header(text), Err(BindingError::ReservedHeader), "{text:?}");
        }
        for text in ["", "Bearer", "{}{}", "{ }", "Bearer {}\r\nx: y", "Bearer\t{}", "Bearer é{}"] {
            assert_eq!(read_template(text), Err(BindingError::Template), "{text:?}");
        }
        for text in ["", "GITHUB_TOKEN", "env:", "env:A B", "env:1A", "env:A=B", "file:", "file:\0", "vault:x", "ENV:A"]
        {
            assert_eq!(read_source(text), Err(BindingError::SecretSource), "{text:?}");
        }
    }
}
