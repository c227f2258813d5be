//! Sends the messages of the protocol library over HTTP, and checks what comes back.

use super::backend::{ExchangeError, HttpBody, HttpExchange, collect_body};
use super::events::EventStream;
use super::seen_tools::SeenTools;
use crate::closing::CloseReason;
use crate::decode::{DecodedLine, MALFORMED_ANSWER, decode};
use crate::limits::ServerLimits;
use crate::traffic::Traffic;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use portcullis_policy::recovery::RecoverMutex;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::common::http_header::{
    EVENT_STREAM_MIME_TYPE, HEADER_LAST_EVENT_ID, HEADER_SESSION_ID, JSON_MIME_TYPE,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Maximum length of the body of an error, in bytes.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// Maximum length of the id of a session, in bytes.
const SESSION_BYTES_MAX: usize = 1024;

/// Minimum time between two event streams that the library opens. A broken stream is opened again at once otherwise.
const STREAM_INTERVAL: Duration = Duration::from_secs(1);

type HttpError = StreamableHttpError<ExchangeError>;
type EventBox = Pin<Box<dyn futures_core::Stream<Item = Result<Sse, SseError>> + Send>>;

/// The HTTP client that the protocol library uses.
#[derive(Clone)]
pub(super) struct ExchangeClient {
    exchange: Arc<dyn HttpExchange>,
    limits: Arc<ServerLimits>,
    traffic: Arc<Traffic>,
    seen: Arc<Mutex<SeenTools>>,
    next_stream: Arc<Mutex<Option<Instant>>>,
}

impl ExchangeClient {
    pub(super) fn new(exchange: Arc<dyn HttpExchange>, limits: ServerLimits, traffic: Arc<Traffic>) -> Self {
        Self { exchange, limits: Arc::new(limits), traffic, seen: Arc::default(), next_stream: Arc::default() }
    }

    async fn send(
        &self,
        method: Method,
        address: &str,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
        body: Vec<u8>,
    ) -> Result<http::Response<HttpBody>, HttpError> {
        let mut request = http::Request::builder().method(method).uri(address);
        request = request.header(ACCEPT, format!("{JSON_MIME_TYPE}, {EVENT_STREAM_MIME_TYPE}"));
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, JSON_MIME_TYPE);
        }
        if let Some(session) = session {
            request = request.header(HEADER_SESSION_ID, session);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Bytes::from(body)).map_err(|error| HttpError::Client(ExchangeError::new(error)))?;
        let response = self.exchange.exchange(request).await.map_err(HttpError::Client)?;
        refuse_challenge(&response)?;
        Ok(response)
    }

    /// Sends a message, and returns what the server answers with.
    async fn post(
        &self,
        address: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let body = serde_json::to_vec(message)?;
        let response = self.send(Method::POST, address, session, headers, body).await?;
        let status = response.status();
        // The specification has a server answer 404 if it has ended the session.
        if status == StatusCode::NOT_FOUND && session.is_some() {
            self.traffic.close(CloseReason::SessionExpired);
            return Err(HttpError::SessionExpired);
        }
        if !status.is_success() {
            return self.refused(message, session, response).await;
        }
        let session = session_of(&response)?;
        let expects_answer = matches!(message, JsonRpcMessage::Request(_));
        if !expects_answer || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        match media_type(&response).as_deref() {
            Some(EVENT_STREAM_MIME_TYPE) => {
                Ok(StreamableHttpPostResponse::Sse(self.events(response.into_body()), session))
            }
            Some(JSON_MIME_TYPE) => {
                let Some(body) =
                    collect_body(response.into_body(), self.limits.message_bytes).await.map_err(HttpError::Client)?
                else {
                    self.traffic.close(CloseReason::MessageTooLong { max: self.limits.message_bytes });
                    return Err(HttpError::ResponseBodyTooLarge { max_size: self.limits.message_bytes });
                };
                match self.check(&body).map_err(HttpError::Client)? {
                    DecodedLine::Message(message) => Ok(StreamableHttpPostResponse::Json(*message, session)),
                    DecodedLine::Unused | DecodedLine::Noise => {
                        Err(HttpError::UnexpectedServerResponse("the body is no answer to the request".into()))
                    }
                }
            }
            other => Err(HttpError::UnexpectedContentType(other.map(str::to_owned))),
        }
    }

    /// Converts a response with an error status. It can hold an error of the protocol.
    async fn refused(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        response: http::Response<HttpBody>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let is_json = media_type(&response).as_deref() == Some(JSON_MIME_TYPE);
        // A 429 stays an error of HTTP, because an error of the protocol has no `Retry-After`.
        let body = match is_json && status != StatusCode::TOO_MANY_REQUESTS {
            true => collect_body(response.into_body(), ERROR_BYTES_MAX).await.map_err(HttpError::Client)?,
            false => None,
        };
        let error = body.and_then(|body| match serde_json::from_slice(&body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        });
        // A server of the handshake era refuses the first request of the modern era before it reads its id.
        if let JsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
            && session.is_none()
            && status.is_client_error()
            && status != StatusCode::FORBIDDEN
        {
            let unknown = || ErrorData::new(ErrorCode::INVALID_REQUEST, format!("HTTP status {status}"), None);
            let error = error.map_or_else(unknown, |error| error.error);
            let message = JsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
        match error {
            Some(error) => Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), None)),
            None => Err(HttpStatusError::new(status.as_u16(), retry_after).into()),
        }
    }

    /// Checks a message of the server before the library reads it.
    fn check(&self, message: &[u8]) -> Result<DecodedLine, ExchangeError> {
        let decoded = decode(message, self.limits.message_values, |id| self.traffic.expected(id));
        if let DecodedLine::Message(message) = &decoded
            && let JsonRpcMessage::Response(response) = &**message
            && let ServerResult::ListToolsResult(list) = &response.result
            && !self.seen.lock_recovered().note(&list.tools, self.seen_bytes_max())
        {
            self.traffic.close(CloseReason::TooManyTools { max: self.seen_bytes_max() });
            return Err(ExchangeError::new("the server lists too many tools"));
        }
        Ok(decoded)
    }

    /// Returns how many bytes of schemas the library may remember. A server may change its tools a few times.
    fn seen_bytes_max(&self) -> usize {
        self.limits.definitions_bytes.saturating_mul(4)
    }

    /// Returns the events of a body, each checked.
    fn events(&self, body: HttpBody) -> EventBox {
        let (client, mut noise_bytes) = (self.clone(), 0);
        let check = move |data: String| match client.check(data.as_bytes())? {
            DecodedLine::Message(message) => {
                noise_bytes = 0;
                match *message {
                    // The library would skip a malformed answer, and its request would wait.
                    JsonRpcMessage::Error(error) if error.error.code == MALFORMED_ANSWER => {
                        serde_json::to_string(&ServerJsonRpcMessage::Error(error)).map(Some).map_err(ExchangeError::new)
                    }
                    _ => Ok(Some(data)),
                }
            }
            // As over pipes: it is dropped before the next one is read, so any number takes no memory.
            DecodedLine::Unused => Ok(None),
            DecodedLine::Noise => {
                noise_bytes += data.len();
                if noise_bytes > client.limits.noise_bytes {
                    client.traffic.close(CloseReason::Noise { max: client.limits.noise_bytes });
                    return Err(ExchangeError::new("the server sends events that are no messages"));
                }
                Ok(None)
            }
        };
        Box::pin(EventStream::new(body, self.limits.message_bytes, Box::new(check), Arc::clone(&self.traffic)))
    }

    /// Waits until another event stream may be opened.
    async fn wait_for_stream(&self) {
        // Each stream reserves its time under the lock, and waits for it without the lock.
        let start = {
            let mut next = self.next_stream.lock_recovered();
            let start = next.unwrap_or_else(Instant::now).max(Instant::now());
            *next = Some(start + STREAM_INTERVAL);
            start
        };
        tokio::time::sleep_until(start).await;
    }
}

impl StreamableHttpClient for ExchangeClient {
    type Error = ExchangeError;

    async fn post_message(
        &self,
        address: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.post(&address, &message, session.as_deref(), headers).await
    }

    async fn delete_session(
        &self,
        address: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        // A server may refuse to end a session.
        self.send(Method::DELETE, &address, Some(&session), headers, Vec::new()).await.map(drop)
    }

    async fn get_stream(
        &self,
        address: Arc<str>,
        session: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        mut headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<EventBox, HttpError> {
        self.wait_for_stream().await;
        if let Some(id) = last_event_id {
            let id = HeaderValue::try_from(id).map_err(|error| HttpError::Client(ExchangeError::new(error)))?;
            headers.insert(HeaderName::from_bytes(HEADER_LAST_EVENT_ID.as_bytes()).map_err(invalid)?, id);
        }
        let response = self.send(Method::GET, &address, session.as_deref(), headers, Vec::new()).await?;
        match (response.status(), media_type(&response).as_deref()) {
            (StatusCode::METHOD_NOT_ALLOWED, _) => Err(HttpError::ServerDoesNotSupportSse),
            (StatusCode::OK, Some(EVENT_STREAM_MIME_TYPE)) => Ok(self.events(response.into_body())),
            (StatusCode::OK, other) => Err(HttpError::UnexpectedContentType(other.map(str::to_owned))),
            (status, _) => Err(HttpStatusError::new(status.as_u16(), None).into()),
        }
    }
}

fn invalid(error: http::header::InvalidHeaderName) -> HttpError {
    HttpError::Client(ExchangeError::new(error))
}

/// Refuses a response that demands an authorization.
fn refuse_challenge(response: &http::Response<HttpBody>) -> Result<(), HttpError> {
    let challenge = response.headers().get(WWW_AUTHENTICATE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    match (response.status(), challenge) {
        (StatusCode::UNAUTHORIZED, challenge) => {
            let challenge = challenge.unwrap_or_default().into_owned();
            Err(HttpError::AuthRequired(AuthRequiredError::new(challenge)))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            Err(HttpError::InsufficientScope(InsufficientScopeError::new(challenge.into_owned(), None)))
        }
        _ => Ok(()),
    }
}

/// Returns the id of the session that a response begins.
fn session_of(response: &http::Response<HttpBody>) -> Result<Option<String>, HttpError> {
    let Some(session) = response.headers().get(HEADER_SESSION_ID) else { return Ok(None) };
    match session.to_str() {
        Ok(session) if session.len() <= SESSION_BYTES_MAX => Ok(Some(session.to_owned())),
        _ => Err(HttpError::UnexpectedServerResponse("the id of the session is too long, or no text".into())),
    }
}

/// Returns the media type of a response, without its parameters.
fn media_type(response: &http::Response<HttpBody>) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}
