//! Errors of the address of a server, and how to fix them.

use super::limits::{ENVIRONMENT_ENTRIES, SERVER_SCOPES};

/// Why the address of a server, or how the host logs in to it, is invalid. Messages repeat no text of the policy,
/// because it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ServerAddressError {
    /// The URL cannot be used.
    #[error("invalid URL of a server")]
    Url,
    /// The URL is unencrypted, and leads to the internet.
    #[error("the connection to the server would be unencrypted")]
    InClear,
    /// A header carries credentials, or belongs to the protocol.
    #[error("this header cannot be a plain header of a server")]
    Header,
    /// There are too many headers.
    #[error("a server has more than {ENVIRONMENT_ENTRIES} headers")]
    Headers,
    /// The value of a header is empty or too long, or contains something other than visible ASCII and spaces.
    #[error("invalid value of a header")]
    HeaderValue,
    /// The server has both `oauth` and `secret`.
    #[error("a server cannot have both `oauth` and `secret`")]
    Credentials,
    /// The name of a client is empty or too long, or contains something other than visible ASCII and spaces.
    #[error("invalid name of a client")]
    ClientId,
    /// A client has a secret, but no name.
    #[error("`client-secret` needs `client-id`")]
    ClientSecret,
    /// The scope is no word of visible ASCII.
    #[error("invalid scope")]
    Scope,
    /// A login asks for too many scopes.
    #[error("a login asks for more than {SERVER_SCOPES} scopes")]
    Scopes,
}

impl ServerAddressError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Url => "write a URL such as \"https://mcp.example.com/mcp\", without a user and a fragment",
            Self::InClear => "use https; over http, the host must be a private address, such as 127.0.0.1",
            Self::Header => "write credentials as secret = { header = \"...\", value = \"{}\", from = \"env:NAME\" }",
            Self::Headers => "write at most 64",
            Self::HeaderValue => "write at most 4096 bytes of visible ASCII; never write a secret here",
            Self::Credentials => "remove `secret`: the login gives the token",
            Self::ClientId => "write the name that the authorization server has given to your client",
            Self::ClientSecret => "add `client-id`, or remove `client-secret`",
            Self::Scope => "write each scope as a string of its own, such as \"read\"",
            Self::Scopes => "write at most 64, or none for those that the server names",
        }
    }
}
