//! Renews a token and revokes it, at the authorization server that has issued it.

use super::endpoints::{check_endpoint, revocation_endpoint};
use super::error::{LoginError, problem};
use super::exchange::LoginExchange;
use super::server_token::ServerToken;
use crate::http::HttpExchange;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{AuthorizationManager, CredentialStore, InMemoryCredentialStore, OAuthClientConfig};
use std::sync::Arc;
use url::form_urlencoded::Serializer;

impl ServerToken {
    /// Fetches a new access token. `client_secret` is that of a client that the operator has registered. An
    /// authorization server may accept a token for a renewal only once, so the result must be kept.
    ///
    /// # Errors
    /// The login has ended, or the authorization server does not answer.
    pub async fn renewed(
        &self,
        exchange: Arc<dyn HttpExchange>,
        client_secret: Option<&str>,
    ) -> Result<Self, LoginError> {
        let client = Arc::new(LoginExchange::for_renewal(exchange, &self.resource));
        let manager = AuthorizationManager::new_with_oauth_http_client(self.resource.as_str(), client.clone()).await;
        let mut manager = manager.map_err(|error| LoginError::renewal(&error, client.explain(&error)))?;
        manager.set_metadata(self.metadata.clone());
        let mut registered = OAuthClientConfig::new(&self.credentials.client_id, &self.redirect);
        registered.client_secret = client_secret.map(str::to_owned).or_else(|| self.registered_secret.clone());
        manager.configure_client(registered).map_err(|error| LoginError::renewal(&error, client.explain(&error)))?;
        let credentials = InMemoryCredentialStore::new();
        let kept = credentials.save(self.credentials.clone()).await;
        kept.map_err(|error| LoginError::renewal(&error, client.explain(&error)))?;
        manager.set_credential_store(credentials.clone());
        manager.refresh_token().await.map_err(|error| LoginError::renewal(&error, client.explain(&error)))?;
        let renewed = credentials.load().await.map_err(|error| LoginError::renewal(&error, client.explain(&error)))?;
        Ok(Self { credentials: renewed.ok_or(LoginError::Unreadable)?, ..self.clone() })
    }

    /// Makes the token invalid at the authorization server (RFC 7009). Returns `false` if the server offers no
    /// revocation.
    ///
    /// # Errors
    /// The authorization server does not answer, or refuses, or its endpoint is unencrypted.
    pub async fn revoke(
        &self,
        exchange: Arc<dyn HttpExchange>,
        client_secret: Option<&str>,
    ) -> Result<bool, LoginError> {
        let endpoint = revocation_endpoint(&self.metadata);
        let (Some(endpoint), Some(response)) = (endpoint, self.response()) else { return Ok(false) };
        // A login of an earlier version did not check it.
        check_endpoint(&self.address, endpoint)?;
        // The refresh token first, because its end should also end the access tokens (RFC 7009 section 2.1).
        let (token, kind) = match response.refresh_token() {
            Some(token) => (token.secret(), "refresh_token"),
            None => (response.access_token().secret(), "access_token"),
        };
        let mut form = Serializer::new(String::new());
        form.append_pair("token", token).append_pair("token_type_hint", kind);
        form.append_pair("client_id", &self.credentials.client_id);
        if let Some(secret) = client_secret.or(self.registered_secret.as_deref()) {
            form.append_pair("client_secret", secret);
        }
        let request = http::Request::post(endpoint)
            .header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.finish().into_bytes())
            .map_err(|error| LoginError::Unavailable(problem(&error)))?;
        let answer = LoginExchange::new(exchange).send(request).await;
        let status = answer.map_err(|error| LoginError::Unavailable(problem(&error)))?.status();
        match status.is_success() {
            true => Ok(true),
            false => Err(LoginError::Unavailable(format!("it answered the revocation with {status}"))),
        }
    }
}
