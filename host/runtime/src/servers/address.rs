//! A server that is reached over HTTP.

use super::body::body_of;
use super::error::{ServerFault, shown};
use super::limits::{limits, requests};
use super::login::{AccountError, ServerAccount, TokenKeeper};
use crate::grants::BoundAddress;
use bytes::Bytes;
use http::StatusCode;
use http::header::WWW_AUTHENTICATE;
use portcullis_ledger::logins::ServerLogins;
use portcullis_policy::HttpBinding;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_sandbox::{BearerToken, HostClient, PluginSecrets, Traffic};
use portcullis_upstream::{
    ConnectError, ExchangeError, ExchangeFuture, HttpBody, HttpExchange, ServerClient, ServerEra, connect_over_http,
};
use std::sync::{Arc, Mutex};

/// The address at the other end of a connection.
pub(super) struct AddressEnd {
    exchange: Arc<AddressExchange>,
    /// What the connection was opened with.
    binding: Arc<HttpBinding>,
}

impl AddressEnd {
    /// Connects to the server.
    pub(super) async fn open(
        address: &BoundAddress,
        secrets: &Arc<PluginSecrets>,
        logins: &Arc<ServerLogins>,
    ) -> Result<(ServerClient, Self), ServerFault> {
        let binding = Arc::clone(address.binding());
        let server = binding.server.as_deref().ok_or(ServerFault::NotBound)?;
        let tokens = match &server.login {
            Some(_) => {
                let terms = (&address.base, &address.network, address.limits);
                let account = ServerAccount::new(&address.name, &binding, terms, logins);
                Some(TokenKeeper::new(account.map_err(|fault| ServerFault::login(&fault))?))
            }
            None => None,
        };
        let client = HostClient::new(address.client.clone(), Some(Arc::clone(secrets)), &address.limits);
        let exchange = Arc::new(AddressExchange { client, tokens, login_fault: Mutex::default() });
        let (url, limits) = (server.url.to_string(), limits(&address.limits));
        let connected = Arc::clone(&exchange) as Arc<dyn HttpExchange>;
        let connected = connect_over_http(connected, &url, limits, requests(&address.policy), ServerEra::Detect).await;
        // To the client, a login fault is only a failed request. The fault itself says what a person can do.
        let client = connected.map_err(|error| match (exchange.take_login_fault(), &error) {
            (Some(fault), _) => ServerFault::login(&fault),
            (None, ConnectError::Unauthorized { .. }) => ServerFault::Unauthorized { logs_in: server.login.is_some() },
            (None, error) => ServerFault::Address(shown(error)),
        })?;
        Ok((client, Self { exchange, binding }))
    }

    /// Returns whether the policy still says about the server what it did.
    pub(super) fn is_of(&self, address: &BoundAddress) -> bool {
        self.binding == *address.binding()
    }

    /// Takes the requests to the server since the last time, and those to its authorization server.
    pub(super) fn take_traffic(&self) -> Traffic {
        let mut traffic = self.exchange.client.take_traffic();
        if let Some(tokens) = &self.exchange.tokens {
            // `LoginRequests` has bounded the number.
            traffic.append(tokens.account().take_traffic(), usize::MAX);
        }
        traffic
    }

    /// Takes why the last request had no token, if it had none.
    pub(super) fn take_login_fault(&self) -> Option<AccountError> {
        self.exchange.take_login_fault()
    }
}

/// Sends the requests to one server, each with the token of the login.
struct AddressExchange {
    client: HostClient,
    tokens: Option<TokenKeeper>,
    login_fault: Mutex<Option<AccountError>>,
}

impl AddressExchange {
    async fn send(&self, request: http::Request<Bytes>) -> Result<http::Response<HttpBody>, ExchangeError> {
        let Some(tokens) = &self.tokens else { return self.sent(request, None).await };
        let token = match tokens.token().await {
            Ok(token) => token,
            Err(fault @ AccountError::LoggedOut(_)) => return self.sent_without_login(request, fault).await,
            Err(fault) => return Err(self.without_token(fault)),
        };
        let response = self.sent(request.clone(), Some(&token)).await?;
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        match (response.status(), challenge) {
            (StatusCode::UNAUTHORIZED, _) => {}
            (StatusCode::FORBIDDEN, Some(challenge)) => {
                // If it cannot be kept, the next login asks for less, and the server demands it again.
                let _ = tokens.note_demand(challenge).await;
                return Ok(response);
            }
            _ => return Ok(response),
        }
        // The token was revoked, or ended earlier than the authorization server said.
        drop(response);
        let token = tokens.other_than(&token).await.map_err(|fault| self.without_token(fault))?;
        self.sent(request, Some(&token)).await
    }

    /// Sends a request without a token. A server that demands none can be used without a login.
    async fn sent_without_login(
        &self,
        request: http::Request<Bytes>,
        fault: AccountError,
    ) -> Result<http::Response<HttpBody>, ExchangeError> {
        let response = self.sent(request, None).await?;
        match response.status() {
            StatusCode::UNAUTHORIZED => Err(self.without_token(fault)),
            _ => Ok(response),
        }
    }

    async fn sent(
        &self,
        request: http::Request<Bytes>,
        token: Option<&BearerToken>,
    ) -> Result<http::Response<HttpBody>, ExchangeError> {
        let response = self.client.send(request, token).await.map_err(ExchangeError::new)?;
        Ok(response.map(body_of))
    }

    fn without_token(&self, fault: AccountError) -> ExchangeError {
        let error = ExchangeError::new(fault.to_string());
        *self.login_fault.lock_recovered() = Some(fault);
        error
    }

    fn take_login_fault(&self) -> Option<AccountError> {
        self.login_fault.lock_recovered().take()
    }
}

impl HttpExchange for AddressExchange {
    fn exchange(&self, request: http::Request<Bytes>) -> ExchangeFuture<'_> {
        Box::pin(self.send(request))
    }
}
