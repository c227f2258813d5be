//! The token of a server, and everything that renewing it needs.

use super::error::LoginError;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{AuthorizationMetadata, OAuthTokenResponse, StoredCredentials, WWWAuthenticateParams};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use url::Url;

/// How long before its end a token is renewed. It has to arrive at the server before it ends.
const RENEWAL_MARGIN: Duration = Duration::from_secs(30);

/// Maximum scopes that a login asks for, as in a policy.
const SCOPES_MAX: usize = 64;

/// The token of a server. It is used only at the server's address, and renewed only where it came from.
#[derive(Clone, Serialize, Deserialize)]
pub struct ServerToken {
    /// The URL of the server.
    pub(super) address: String,
    /// What the token was issued for (RFC 8707): the address, or what the server calls itself.
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) metadata: AuthorizationMetadata,
    pub(super) redirect: String,
    /// The secret of a client that has registered itself.
    pub(super) registered_secret: Option<String>,
    pub(super) credentials: StoredCredentials,
    /// The scopes that the server has demanded since, for the next login.
    #[serde(default)]
    pub(super) demanded: Vec<String>,
}

impl fmt::Debug for ServerToken {
    /// Leaves out the token and the secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerToken").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ServerToken {
    /// Reads a token that was written for the server at this address.
    ///
    /// # Errors
    /// The bytes are no token of the server.
    pub fn from_bytes(bytes: &[u8], address: &str) -> Result<Self, LoginError> {
        let token: Self = serde_json::from_slice(bytes).map_err(|_| LoginError::Unreadable)?;
        let is_whole = token.address == address && token.response().is_some();
        if is_whole { Ok(token) } else { Err(LoginError::Unreadable) }
    }

    /// Returns the token in a form that can be kept. It holds secrets, so it must be encrypted.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Its parts come from JSON, so they have a form in JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the access token.
    pub fn access_token(&self) -> &str {
        self.response().map_or("", |response| response.access_token().secret())
    }

    /// Returns who has issued the token. Untrusted text.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns what the token permits. Untrusted text.
    pub fn scopes(&self) -> &[String] {
        &self.credentials.granted_scopes
    }

    /// Returns the scopes that the next login has to ask for: those of the token, and those that the server has
    /// demanded since. Untrusted text.
    pub fn scopes_to_ask(&self) -> Vec<String> {
        let mut scopes = self.credentials.granted_scopes.clone();
        scopes.extend(self.demanded.iter().filter(|scope| !self.credentials.granted_scopes.contains(scope)).cloned());
        scopes
    }

    /// Returns the token with the scopes that a challenge of the server demands, if it demands other ones. `challenge`
    /// is the header `WWW-Authenticate` of a refusal.
    pub fn demanding(&self, challenge: &str) -> Option<Self> {
        let params = WWWAuthenticateParams::parse(challenge, &Url::parse(&self.address).ok()?);
        let scope = params.scope.as_ref().filter(|_| params.is_insufficient_scope())?;
        let known = self.scopes_to_ask();
        let new = scope.split_whitespace().take(SCOPES_MAX).filter(|scope| !known.iter().any(|known| known == scope));
        let new: Vec<String> = new.map(str::to_owned).collect();
        let has_room = !new.is_empty() && known.len() + new.len() <= SCOPES_MAX;
        has_room.then(|| Self { demanded: self.demanded.iter().cloned().chain(new).collect(), ..self.clone() })
    }

    /// Returns the end of the access token, if the authorization server has named it.
    pub fn ends_at(&self) -> Option<SystemTime> {
        let received = UNIX_EPOCH.checked_add(Duration::from_secs(self.credentials.token_received_at?))?;
        received.checked_add(self.response()?.expires_in()?)
    }

    /// Returns whether the access token has ended, or ends before a request with it could arrive.
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.ends_at().is_some_and(|end| end <= now + RENEWAL_MARGIN)
    }

    /// Returns whether the token can be renewed without the user.
    pub fn can_be_renewed(&self) -> bool {
        self.response().is_some_and(|response| response.refresh_token().is_some())
    }

    pub(super) fn response(&self) -> Option<&OAuthTokenResponse> {
        self.credentials.token_response.as_ref()
    }
}
