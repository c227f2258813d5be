//! A login: from the address of a server to its token.

use super::endpoints::{check_endpoint, endpoints};
use super::error::{LoginError, problem};
use super::exchange::LoginExchange;
use super::server_token::ServerToken;
use crate::http::HttpExchange;
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use rmcp::model::ProtocolVersion;
use rmcp::transport::auth::{
    AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig,
};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE};
use serde_json::json;
use std::sync::Arc;
use url::Url;

/// The name that the host registers itself with.
const CLIENT_NAME: &str = "Portcullis";

/// What a login is made with.
#[derive(Clone, Debug)]
pub struct LoginSettings {
    /// The URL of the server.
    pub address: String,
    /// The name of the client that the operator has registered. Without one, the host registers itself.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<String>,
    /// The scopes to ask for. If there are none, those that the server names.
    pub scopes: Vec<String>,
    /// More scopes, which the login before had or the server has demanded since.
    pub more_scopes: Vec<String>,
    /// The address on the loopback interface to which the user's browser returns.
    pub redirect: String,
}

/// An authorization server at which the user can log in. The user was not asked yet, and nothing was registered.
pub struct LoginOffer {
    client: Arc<LoginExchange>,
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
    settings: LoginSettings,
    scopes: Vec<String>,
    issuer: String,
}

/// A login that waits for the user.
pub struct LoginUnderWay {
    client: Arc<LoginExchange>,
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
    settings: LoginSettings,
    /// The secret that the authorization server has given to the host at its registration.
    registered_secret: Option<String>,
    issuer: String,
    page: String,
    credentials: InMemoryCredentialStore,
}

impl LoginOffer {
    /// Discovers the authorization server of a server.
    ///
    /// # Errors
    /// The server names none, or what is published of it does not fit.
    pub async fn discover(exchange: Arc<dyn HttpExchange>, settings: LoginSettings) -> Result<Self, LoginError> {
        let client = Arc::new(LoginExchange::new(exchange));
        let manager = AuthorizationManager::new_with_oauth_http_client(settings.address.as_str(), client.clone()).await;
        let mut manager = manager.map_err(|error| LoginError::discovery(&error, client.explain(&error)))?;
        let challenge = challenge_of(&client, &settings.address).await;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
        let found = found.map_err(|error| LoginError::discovery(&error, client.explain(&error)))?;
        // If nothing is published, the library assumes endpoints at the server itself. No one has said that they exist.
        if !found.source.is_discovered() {
            return Err(LoginError::NotOffered);
        }
        let metadata = found.metadata;
        endpoints(&metadata).try_for_each(|endpoint| check_endpoint(&settings.address, endpoint))?;
        manager.set_metadata(metadata.clone());
        let scopes = match settings.scopes.is_empty() {
            true => {
                let mut scopes = manager.select_initial_scopes(&[]).await;
                let more = settings.more_scopes.iter().filter(|scope| !scopes.contains(scope));
                let more: Vec<String> = more.cloned().collect();
                scopes.extend(more);
                scopes
            }
            // The operator's scopes are the whole list. Neither the server nor an earlier login adds to them.
            false => settings.scopes.clone(),
        };
        let issuer = metadata.issuer.clone().unwrap_or_else(|| origin_of(&metadata.token_endpoint));
        Ok(Self { client, manager, metadata, settings, scopes, issuer })
    }

    /// Returns the name of the authorization server, which is a URL. Untrusted text.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the scopes that the login asks for. Untrusted text.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Returns the other origins that take part: those of the page of the login, and of what gives or revokes tokens.
    /// Untrusted text.
    pub fn origins(&self) -> Vec<String> {
        let issuer = origin_of(&self.issuer);
        let mut origins: Vec<String> = endpoints(&self.metadata).map(origin_of).collect();
        origins.retain(|origin| *origin != issuer);
        origins.sort();
        origins.dedup();
        origins
    }

    /// Registers the host, if the operator has registered no client, and begins the login.
    ///
    /// # Errors
    /// The authorization server does not register the host.
    pub async fn begin(self) -> Result<LoginUnderWay, LoginError> {
        let Self { client, mut manager, metadata, settings, scopes, issuer } = self;
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered_secret = match &settings.client_id {
            Some(id) => {
                let mut registered = OAuthClientConfig::new(id, &settings.redirect);
                registered.client_secret.clone_from(&settings.client_secret);
                manager
                    .configure_client(registered)
                    .map_err(|error| LoginError::discovery(&error, client.explain(&error)))?;
                None
            }
            None => {
                let registered = manager.register_client(CLIENT_NAME, &settings.redirect, &asked).await;
                registered.map_err(|error| LoginError::Registration(client.explain(&error)))?.client_secret
            }
        };
        let page = manager
            .get_authorization_url(&asked)
            .await
            .map_err(|error| LoginError::discovery(&error, client.explain(&error)))?;
        Ok(LoginUnderWay { client, manager, metadata, settings, registered_secret, issuer, page, credentials })
    }
}

impl LoginUnderWay {
    /// Returns the page that the user has to open.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Returns whether an address to which a browser has returned belongs to this login, by its state.
    pub fn is_answered_by(&self, returned: &str) -> bool {
        let state_of = |url: &str| {
            let url = Url::parse(url).ok()?;
            url.query_pairs().find(|(key, _)| key == "state").map(|(_, state)| state.into_owned())
        };
        state_of(&self.page).is_some_and(|state| state_of(returned).as_ref() == Some(&state))
    }

    /// Takes the address to which the browser has returned, and fetches the token.
    ///
    /// # Errors
    /// The user refused, the address does not belong to this login, or there is no token.
    pub async fn finish(self, returned: &str) -> Result<ServerToken, LoginError> {
        let returned_to = Url::parse(returned).map_err(|error| LoginError::Foreign(problem(&error)))?;
        // Before anything else, because any page of a browser can send other addresses, also with a refusal.
        if !self.is_answered_by(returned) {
            return Err(LoginError::Foreign("its state is of another login".to_owned()));
        }
        let parameter = |name: &str| returned_to.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
        // A redirect with a refusal has no code. So this error counts only if the redirect names no refusal.
        let callback = AuthorizationCallback::from_redirect_url(returned);
        if let Some(refusal) = parameter("error") {
            let why = parameter("error_description").map(|why| format!("{refusal}: {why}"));
            return Err(LoginError::refused(&why.unwrap_or_else(|| refusal.into_owned())));
        }
        let callback = callback.map_err(|error| LoginError::Foreign(problem(&error)))?;
        self.manager
            .exchange_code_for_token_with_issuer(&callback.code, &callback.csrf_token, callback.issuer.as_deref())
            .await
            .map_err(|error| LoginError::token(&error, self.client.explain(&error)))?;
        let kept =
            self.credentials.load().await.map_err(|error| LoginError::token(&error, self.client.explain(&error)))?;
        // The library has chosen the resource for the page. A renewal must name the same (RFC 8707).
        let resource = Url::parse(&self.page).ok().and_then(|page| {
            page.query_pairs().find(|(key, _)| key == "resource").map(|(_, value)| value.into_owned())
        });
        Ok(ServerToken {
            address: self.settings.address.clone(),
            resource: resource.unwrap_or(self.settings.address),
            issuer: self.issuer,
            metadata: self.metadata,
            redirect: self.settings.redirect,
            registered_secret: self.registered_secret,
            credentials: kept.ok_or(LoginError::Unreadable)?,
            demanded: Vec::new(),
        })
    }
}

/// Returns the challenge with which the server refuses a first message, which can say where to log in and for what. Not
/// every server sends it for other requests.
async fn challenge_of(client: &LoginExchange, address: &str) -> Option<String> {
    let hello = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": ProtocolVersion::LATEST_WITH_INITIALIZE,
            "capabilities": {},
            "clientInfo": { "name": "portcullis", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    let request = http::Request::post(address)
        .header(ACCEPT, format!("{JSON_MIME_TYPE}, {EVENT_STREAM_MIME_TYPE}"))
        .header(CONTENT_TYPE, JSON_MIME_TYPE)
        .body(hello.to_string().into_bytes());
    let answer = client.send(request.ok()?).await.ok()?;
    let challenge = answer.headers().get(WWW_AUTHENTICATE).filter(|_| answer.status() == StatusCode::UNAUTHORIZED)?;
    challenge.to_str().ok().map(str::to_owned)
}

/// Returns the origin of a URL, or the text if it is none.
fn origin_of(url: &str) -> String {
    Url::parse(url).map_or_else(|_| url.to_owned(), |url| url.origin().ascii_serialization())
}
