//! The addresses of an authorization server to which a login sends the user, or a request with credentials.

use super::error::LoginError;
use rmcp::transport::auth::AuthorizationMetadata;
use url::Url;

/// The name of the revocation endpoint in the description of an authorization server (RFC 8414 section 2).
const REVOCATION_ENDPOINT: &str = "revocation_endpoint";

/// Returns all endpoints that the host uses.
pub(super) fn endpoints(metadata: &AuthorizationMetadata) -> impl Iterator<Item = &str> {
    [&*metadata.authorization_endpoint, &*metadata.token_endpoint]
        .into_iter()
        .chain(metadata.registration_endpoint.as_deref())
        .chain(revocation_endpoint(metadata))
}

/// Returns the endpoint that makes tokens invalid, if there is one. It gets the token and the client's secret.
pub(super) fn revocation_endpoint(metadata: &AuthorizationMetadata) -> Option<&str> {
    metadata.additional_fields.get(REVOCATION_ENDPOINT)?.as_str()
}

/// Checks that an endpoint is encrypted, unless the server at `address` itself is not.
pub(super) fn check_endpoint(address: &str, endpoint: &str) -> Result<(), LoginError> {
    let is_plain = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "http");
    let is_web = |url: &str| Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let is_safe = is_web(endpoint) && (!is_plain(endpoint) || is_plain(address));
    if is_safe { Ok(()) } else { Err(LoginError::unencrypted(endpoint)) }
}
