//! The metadata that tells a client without a token where the authorization server is (RFC 9728).

use crate::http::error::SettingError;
use serde::Serialize;

/// The scope that a token needs. There is only one, because listing tools and calling them give the same access.
pub const SCOPE: &str = "tools:call";

/// The scope with which a person answers approval requests in the console. The metadata does not list it, because
/// clients of agents ask for every scope that is listed there.
pub const APPROVER_SCOPE: &str = "approvals:answer";

/// The path of a resource's metadata. The path of the resource follows.
pub(crate) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The metadata of this server that clients can read without a token.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ResourceMetadata {
    resource: String,
    authorization_servers: [String; 1],
    scopes_supported: [&'static str; 1],
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'static str,
}

impl ResourceMetadata {
    pub(super) fn of(resource: &str, issuer: &str) -> Self {
        Self {
            resource: resource.to_owned(),
            authorization_servers: [issuer.to_owned()],
            scopes_supported: [SCOPE],
            bearer_methods_supported: ["header"],
            resource_name: "Portcullis",
        }
    }
}

/// The URL of this server as clients know it.
#[derive(Clone, Debug)]
pub(super) struct ResourceAddress {
    /// The scheme, the host and the port.
    origin: String,
    path: String,
}

impl ResourceAddress {
    pub(super) fn parse(audience: &str) -> Result<Self, SettingError> {
        if !is_address(audience) {
            return Err(SettingError::Audience);
        }
        let host = audience.find("://").map_or(0, |scheme| scheme + 3);
        let path = audience.get(host..).and_then(|rest| rest.find('/')).map_or(audience.len(), |path| host + path);
        let (origin, path) = audience.split_at(path);
        Ok(Self { origin: origin.to_owned(), path: path.trim_end_matches('/').to_owned() })
    }

    /// Returns the URL of the server's metadata.
    pub(super) fn metadata_url(&self) -> String {
        format!("{}{METADATA_PATH}{}", self.origin, self.path)
    }
}

/// Returns whether a text is an `https` URL without query or fragment, with only characters that are safe in a header
/// and in a quoted string. `http` is accepted only for the loopback names.
pub(super) fn is_address(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/[]@%+=,;".contains(&byte);
    let Ok(address) = text.parse::<http::Uri>() else { return false };
    let host = address.host().unwrap_or_default();
    let local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let encrypted = match address.scheme_str() {
        Some("https") => true,
        Some("http") => local,
        Some(_) | None => false,
    };
    let user = address.authority().is_some_and(|authority| authority.as_str().contains('@'));
    encrypted && !host.is_empty() && !user && text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_path_is_inserted_between_the_origin_and_the_path() {
        let rows = [
            ("https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp"),
            ("https://a.example", "https://a.example/.well-known/oauth-protected-resource"),
            ("https://a.example:8443/", "https://a.example:8443/.well-known/oauth-protected-resource"),
            ("http://127.0.0.1:1/x/mcp", "http://127.0.0.1:1/.well-known/oauth-protected-resource/x/mcp"),
        ];
        for (audience, url) in rows {
            assert_eq!(ResourceAddress::parse(audience).unwrap().metadata_url(), url);
        }
    }

    #[test]
    fn an_invalid_or_unencrypted_url_is_refused() {
        let not = [
            "",
            "a",
            "/mcp",
            "http://a.example",
            "ftp://a",
            "https://",
            "https://a?b",
            "https://a#b",
            "https://u@a",
            "https://a/\"",
            "https://a/ b",
            "https://a\r\nX: y",
        ];
        for text in not {
            assert!(!is_address(text), "{text:?}");
        }
    }
}
