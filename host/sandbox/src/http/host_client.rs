//! A client through which the host itself sends requests, such as those to an MCP server. Its requests take the same
//! way as those of a guest: checked, resolved, recorded and limited.

use super::Traffic;
use super::call::NetworkCall;
use super::client::Client;
use super::host_request;
use super::network::Network;
use super::opened_secrets::OpenedSecrets;
use super::secret::{OpenedSecret, Secret};
use super::secret_error::SecretError;
use super::watch::PluginSecrets;
use crate::host_memory::HostMemory;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request, Response};
use http_body::Body;
use portcullis_policy::{Limits, SecretSlot};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime_wasi_http::WasiBody;
use zeroize::Zeroizing;

/// Maximum requests of one client at the same time. The others wait. It is less than a call may have connections,
/// because a connection that was given up can take a moment to close.
const HOST_REQUESTS_MAX: usize = 24;

/// The template of the header `Authorization` (RFC 6750 section 2.1).
const BEARER: &str = "Bearer {}";

/// A client through which the host itself sends requests. Dropping it closes its connections.
pub struct HostClient {
    client: Client,
    call: Arc<NetworkCall>,
    memory: HostMemory,
    room: Arc<Semaphore>,
}

/// A token for the header `Authorization`. Once it is made, the host searches for it in everything that leaves it.
#[derive(Clone)]
pub struct BearerToken {
    header: HeaderValue,
    /// Keeps the host searching for it.
    _secret: Arc<OpenedSecret>,
}

/// The body of a response to the host.
pub struct HostBody {
    body: WasiBody,
    call: Arc<NetworkCall>,
    _room: OwnedSemaphorePermit,
}

/// Why the host gets no response, or an incomplete one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HostRequestError(String);

impl PartialEq for BearerToken {
    fn eq(&self, other: &Self) -> bool {
        self.header == other.header
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("BearerToken")
    }
}

impl BearerToken {
    /// Prepares a token. Blocks for as long as building the search for it takes.
    ///
    /// # Errors
    /// A description of the problem that does not quote the token: it is too short or too long, or has characters that
    /// no token has.
    pub fn new(network: &Network, token: &str) -> Result<Self, HostRequestError> {
        Self::within(network.opened_secrets(), token).map_err(|error| HostRequestError(error.to_string()))
    }

    fn within(opened: &OpenedSecrets, token: &str) -> Result<Self, SecretError> {
        let slot = SecretSlot::Header { name: AUTHORIZATION.to_string(), value: BEARER.to_owned() };
        let secret = OpenedSecret::new(Secret::new(token.as_bytes(), &slot)?, &slot, opened)?;
        let text = Zeroizing::new(SecretSlot::fill(BEARER, secret.secret.expose()));
        let mut header = HeaderValue::from_str(&text).map_err(|_| SecretError::Characters)?;
        header.set_sensitive(true);
        Ok(Self { header, _secret: Arc::new(secret) })
    }
}

impl HostClient {
    /// Makes a client that sends what `client` allows. `secrets` are searched for in what is recorded. The memory of
    /// its connections is limited like that of a call.
    pub fn new(client: Client, secrets: Option<Arc<PluginSecrets>>, limits: &Limits) -> Self {
        let room = Arc::new(Semaphore::new(HOST_REQUESTS_MAX));
        Self { client, call: Arc::new(NetworkCall::endless(secrets)), memory: HostMemory::new(limits), room }
    }

    /// Sends a request, and returns the response as soon as its headers are there. Follows no redirect.
    ///
    /// # Errors
    /// The client does not allow the request, or there is no response.
    pub async fn send(
        &self,
        request: Request<Bytes>,
        token: Option<&BearerToken>,
    ) -> Result<Response<HostBody>, HostRequestError> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let room = room.map_err(|_| HostRequestError("the host stops".to_owned()))?;
        let authorization = token.map(|token| token.header.clone());
        let sent = host_request::send(&self.client, (&self.call, &self.memory), request, authorization).await;
        let response = sent.map_err(|failure| HostRequestError(failure.to_string()))?;
        Ok(response.map(|body| HostBody { body, call: Arc::clone(&self.call), _room: room }))
    }

    /// Takes the requests that were made since the last time and have ended, for the audit log.
    pub fn take_traffic(&self) -> Traffic {
        self.call.take_traffic()
    }
}

impl Drop for HostClient {
    fn drop(&mut self) {
        self.call.end();
    }
}

impl HostBody {
    /// Polls for the next part of the body.
    pub fn poll_data(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HostRequestError>>> {
        loop {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Ok(frame)) => {
                    // Trailers are skipped.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Some(Err(code)) => {
                    let why = self.call.refusal().unwrap_or_else(|| code.to_string());
                    return Poll::Ready(Some(Err(HostRequestError(why))));
                }
            }
        }
    }
}
