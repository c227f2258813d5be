//! What only the client of an MCP server has: the address of the server, and how the host logs in to it.
//!
//! This file must not know how a login works.

use std::collections::BTreeMap;

use super::describe::plain;
use super::http_headers::{must_be_listed, read_header};
use super::place::GrantPlaceKind;
use super::{BindingError, SecretSource, ServerAddressError};
use crate::destination::Destination;

/// Maximum bytes of the value of a header, as for an environment variable.
const HEADER_VALUE_BYTES: usize = 4096;
/// Maximum bytes of a client's name at an authorization server. URLs fit, which some servers take as names.
const CLIENT_ID_BYTES: usize = 512;
/// Maximum bytes of a scope.
const SCOPE_BYTES: usize = 256;

/// The headers that carry credentials. Their values belong in a `secret`.
const CREDENTIAL_HEADERS: [&str; 3] = ["cookie", "x-api-key", "api-key"];

/// The address of an MCP server, to which the host itself connects. A plugin cannot use such a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// The URL.
    pub url: Destination,
    /// The headers that every request gets. They are part of the description, so they must not hold secrets.
    pub headers: BTreeMap<String, String>,
    /// Set if the host logs in to the server with OAuth.
    pub login: Option<ServerLogin>,
}

/// How the host logs in to a server with OAuth. What the policy does not say, the server does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerLogin {
    /// The client that the operator has registered. Without one, the host registers itself.
    pub client: Option<LoginClient>,
    /// The scopes to ask for. If there are none, those that the server names.
    pub scopes: Vec<String>,
    /// The port of the redirect address. Without one, any free port.
    pub port: Option<u16>,
}

/// A client that the operator has registered with an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginClient {
    /// Its name at the authorization server.
    pub id: String,
    /// Its secret.
    pub secret: Option<SecretSource>,
}

impl ServerAddress {
    /// Describes the server in the parts of a line.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut parts = vec![format!("connects to {}", self.url)];
        if !self.headers.is_empty() {
            let header = |(name, value): (&String, &String)| format!("{name}: {}", plain(value));
            parts.push(format!("headers {}", self.headers.iter().map(header).collect::<Vec<_>>().join(" ")));
        }
        let Some(login) = &self.login else { return parts };
        let client = login.client.as_ref().map(|client| format!(" as the client {}", plain(&client.id)));
        parts.push(format!("logs in with OAuth{}", client.unwrap_or_default()));
        let secret = login.client.as_ref().and_then(|client| client.secret.as_ref());
        parts.extend(secret.map(|from| format!("the client's secret from {}", from.describe())));
        if !login.scopes.is_empty() {
            parts.push(format!("scopes {}", login.scopes.join(" ")));
        }
        parts
    }

    /// Returns the file that the secret of the client comes from.
    pub(super) fn place(&self) -> Option<(GrantPlaceKind, &str)> {
        self.login.as_ref()?.client.as_ref()?.secret.as_ref()?.place()
    }
}

/// Parses the name of a header that every request to a server gets.
pub(crate) fn read_server_header(text: &str) -> Result<String, BindingError> {
    let name = read_header(text)?;
    // Credentials here would be in the description, which is shown to approvers. `mcp-` belongs to the protocol.
    match must_be_listed(&name) || CREDENTIAL_HEADERS.contains(&text) || name.starts_with("mcp-") {
        true => Err(ServerAddressError::Header.into()),
        false => Ok(name),
    }
}

/// Parses the value of such a header.
pub(crate) fn read_header_value(text: &str) -> Result<String, ServerAddressError> {
    if is_visible(text, HEADER_VALUE_BYTES) { Ok(text.to_owned()) } else { Err(ServerAddressError::HeaderValue) }
}

/// Parses the name of a client.
pub(crate) fn read_client_id(text: &str) -> Result<String, ServerAddressError> {
    if is_visible(text, CLIENT_ID_BYTES) { Ok(text.to_owned()) } else { Err(ServerAddressError::ClientId) }
}

/// Parses a scope (RFC 6749 section 3.3).
pub(crate) fn read_scope(text: &str) -> Result<String, ServerAddressError> {
    let is_word = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    if is_word && is_visible(text, SCOPE_BYTES) { Ok(text.to_owned()) } else { Err(ServerAddressError::Scope) }
}

fn is_visible(text: &str, bytes_max: usize) -> bool {
    (1..=bytes_max).contains(&text.len()) && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_headers_of_the_protocol_are_no_plain_headers() {
        for name in ["authorization", "cookie", "x-api-key", "x-forwarded-for", "mcp-session-id"] {
            assert_eq!(read_server_header(name), Err(ServerAddressError::Header.into()), "{name}");
        }
        assert_eq!(read_server_header("host"), Err(BindingError::ReservedHeader));
        assert_eq!(read_server_header("x-tenant").as_deref(), Ok("x-tenant"));
    }

    #[test]
    fn malformed_values_clients_and_scopes_are_refused() {
        for text in ["", "a\r\nb", "é", &"a".repeat(HEADER_VALUE_BYTES + 1)] {
            assert_eq!(read_header_value(text), Err(ServerAddressError::HeaderValue), "{text:?}");
            assert_eq!(read_client_id(text), Err(ServerAddressError::ClientId), "{text:?}");
        }
        for text in ["", "a b", "a\"", "a\\", "é", &"a".repeat(SCOPE_BYTES + 1)] {
            assert_eq!(read_scope(text), Err(ServerAddressError::Scope), "{text:?}");
        }
        assert_eq!(read_scope("https://a.example/read:all").as_deref(), Ok("https://a.example/read:all"));
    }
}
