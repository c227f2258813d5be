//! The requests to authorization servers. A server names them, so they take the way of every request: checked, resolved
//! to public addresses, recorded and limited.

use crate::servers::body::{body_of, whole_body};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Destination, HttpBinding, HttpLimits, Limits, Scheme, ServerAddress, Unnamed};
use portcullis_sandbox::{Client, HostClient, Network, PathBase, Traffic};
use portcullis_upstream::{ExchangeError, ExchangeFuture, HttpBody, HttpExchange, collect_body};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::task::spawn_blocking;

/// Maximum length of an answer, in bytes. The client of logins accepts less.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Maximum requests that are kept for the audit log. A login has about ten.
const RECORDED_MAX: usize = 32;

/// The header in which the protocol library names its version.
const PROTOCOL_VERSION: &str = "mcp-protocol-version";

/// Sends the requests of the logins to one server.
pub(super) struct LoginRequests {
    /// What the policy binds for the server.
    binding: HttpBinding,
    base: PathBase,
    network: Network,
    limits: Limits,
    traffic: Mutex<Traffic>,
}

impl LoginRequests {
    pub(super) fn new(binding: &HttpBinding, base: PathBase, network: Network, limits: Limits) -> Self {
        Self { binding: binding.clone(), base, network, limits, traffic: Mutex::default() }
    }

    /// Takes the requests since the last time.
    pub(super) fn take_traffic(&self) -> Traffic {
        std::mem::take(&mut *self.traffic.lock_recovered())
    }

    async fn send(&self, request: http::Request<Bytes>) -> Result<http::Response<HttpBody>, ExchangeError> {
        let uri = request.uri();
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let path = uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
        let destination = Destination::from_parts(uri.scheme_str().unwrap_or_default(), authority, path);
        let destination = destination.map_err(ExchangeError::new)?;
        let (binding, base) = (Arc::new(self.binding_for(&destination)), self.base.clone());
        let network = self.network.clone();
        // The certificates that it trusts can be in a file.
        let client = spawn_blocking(move || Client::new(&network, binding, base)).await.map_err(ExchangeError::new)?;
        let client = client.map_err(ExchangeError::new)?.narrowed(destination);
        let client = HostClient::new(client, None, &self.limits);
        let answered = async {
            let (head, body) = client.send(request, None).await.map_err(ExchangeError::new)?.into_parts();
            let body = collect_body(body_of(body), ANSWER_BYTES_MAX).await?;
            let too_long = || ExchangeError::new(format!("the response is longer than {ANSWER_BYTES_MAX} bytes"));
            Ok(http::Response::from_parts(head, whole_body(body.ok_or_else(too_long)?)))
        };
        let answered = answered.await;
        // A request that failed is recorded as well.
        self.traffic.lock_recovered().append(client.take_traffic(), RECORDED_MAX);
        answered
    }

    /// Returns a binding for one request. It allows the encrypted web at public addresses, and the addresses that the
    /// policy names for the server. The user has agreed to the authorization server.
    fn binding_for(&self, destination: &Destination) -> HttpBinding {
        let schemes = match self.binding.schemes.contains(&Scheme::Http) {
            true => vec![Scheme::Https, Scheme::Http],
            false => vec![Scheme::Https],
        };
        // Unencrypted requests go only to private addresses, as those to the server. The server's headers stay there.
        let server =
            self.binding.server.as_deref().map(|server| {
                Box::new(ServerAddress { url: server.url.clone(), headers: BTreeMap::new(), login: None })
            });
        HttpBinding {
            schemes,
            unnamed: Unnamed::Ask,
            ports: vec![destination.port()],
            methods: ["GET", "POST"].map(str::to_owned).to_vec(),
            paths: Vec::new(),
            headers: Some(
                [ACCEPT.as_str(), AUTHORIZATION.as_str(), CONTENT_TYPE.as_str(), PROTOCOL_VERSION]
                    .map(str::to_owned)
                    .to_vec(),
            ),
            secret: None,
            limits: HttpLimits::default(),
            server,
            ..self.binding.clone()
        }
    }
}

impl HttpExchange for LoginRequests {
    fn exchange(&self, request: http::Request<Bytes>) -> ExchangeFuture<'_> {
        Box::pin(self.send(request))
    }
}
