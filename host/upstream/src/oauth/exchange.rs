//! Sends the requests of the protocol library's logins with the host's client.

use super::error::{cut_problem, problem};
use crate::http::{ExchangeError, HttpExchange, collect_body};
use bytes::Bytes;
use oauth2::HttpRequest;
use portcullis_policy::recovery::RecoverMutex;
use rmcp::transport::auth::{AuthError, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;
use url::form_urlencoded::{self, Serializer};

/// Maximum length of an answer, in bytes. The description of an authorization server has a few KiB.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Maximum time of one request.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// The parameter that names what a token is for (RFC 8707 section 2).
const RESOURCE: &str = "resource";

/// Sends the requests of a login. It never follows a redirect: the library follows those that may be followed.
pub(super) struct LoginExchange {
    exchange: Arc<dyn HttpExchange>,
    /// What the token of a renewal is for, as the server spells it. The library would spell it as a URL.
    resource: Option<String>,
    /// Why the last request has no answer. The library does not pass on every reason.
    fault: Mutex<Option<String>>,
}

impl OAuthHttpClient for LoginExchange {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = match &self.resource {
                Some(resource) => request.request.map(|form| with_resource(&form, resource)),
                None => request.request,
            };
            let answered = self.send(request).await;
            if let Err(fault) = &answered {
                *self.fault.lock_recovered() = Some(problem(fault));
            }
            Ok(answered?)
        })
    }
}

impl LoginExchange {
    pub(super) fn new(exchange: Arc<dyn HttpExchange>) -> Self {
        Self { exchange, resource: None, fault: Mutex::default() }
    }

    /// Sends the request for a new token.
    pub(super) fn for_renewal(exchange: Arc<dyn HttpExchange>, resource: &str) -> Self {
        Self { resource: Some(resource.to_owned()), ..Self::new(exchange) }
    }

    /// Returns an error of the library, with the reason of the last request.
    pub(super) fn explain(&self, error: &AuthError) -> String {
        let problem = problem(error);
        match self.fault.lock_recovered().take().filter(|fault| !problem.contains(fault.as_str())) {
            Some(fault) => cut_problem(&format!("{problem}: {fault}")),
            None => problem,
        }
    }

    /// Sends a request, and returns the whole answer.
    pub(super) async fn send(&self, request: HttpRequest) -> Result<http::Response<Vec<u8>>, ExchangeError> {
        // A redirect would carry the credentials of the request to another server.
        let has_credentials = request.method() == http::Method::POST;
        let sent = async {
            let response = self.exchange.exchange(request.map(Bytes::from)).await?;
            let status = response.status();
            if has_credentials && status.is_redirection() {
                return Err(ExchangeError::new(format!("it redirects the request ({status}), which is not followed")));
            }
            let (head, body) = response.into_parts();
            let body = collect_body(body, ANSWER_BYTES_MAX).await?;
            let too_long = || ExchangeError::new(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"));
            Ok(http::Response::from_parts(head, body.ok_or_else(too_long)?))
        };
        let late = || ExchangeError::new(format!("there was no answer within {} s", REQUEST_TIME.as_secs()));
        timeout(REQUEST_TIME, sent).await.unwrap_or_else(|_| Err(late()))
    }
}

/// Returns a form with another resource.
fn with_resource(form: &[u8], resource: &str) -> Vec<u8> {
    let others = form_urlencoded::parse(form).filter(|(name, _)| name != RESOURCE);
    Serializer::new(String::new()).extend_pairs(others).append_pair(RESOURCE, resource).finish().into_bytes()
}
