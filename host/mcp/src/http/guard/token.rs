//! Identifies the caller by its bearer token. The token is removed from the request here.

use crate::http::access::LiveAccess;
use crate::http::oauth::{OAuth, TokenVerdict};
use crate::http::options::Access;
use crate::http::refusal::HttpRefusalReply;
use crate::http::refusal_reason::RefusalReason;
use crate::http::token_life::TokenLife;
use crate::identity::TransportIdentity;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use portcullis::policy::Principal;
use portcullis_listener::keep_connection;
use std::sync::Arc;

/// The challenge for a request without a token.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"portcullis\"");
/// The challenge for a request with an unknown token.
const CHALLENGE_WRONG: HeaderValue = HeaderValue::from_static("Bearer realm=\"portcullis\", error=\"invalid_token\"");

/// Seconds after which a client whose connection was evicted may retry.
const RETRY_SECONDS: u32 = 1;

/// The access rules, and the principal of callers that need no token.
#[derive(Debug)]
pub(crate) struct TokenGuard {
    pub(crate) access: LiveAccess,
    pub(crate) operator: Principal,
}

impl TokenGuard {
    /// Returns the principal of a request, and how long its token is valid.
    fn identify(&self, headers: &HeaderMap) -> Result<(Principal, TokenLife), HttpRefusalReply> {
        match &*self.access.now() {
            Access::Everyone => Ok((self.operator.clone(), TokenLife::default())),
            Access::Tokens(tokens) => match bearer(headers) {
                Some(token) => {
                    tokens.find(token).ok_or_else(|| unauthorized(RefusalReason::TokenInvalid, CHALLENGE_WRONG))
                }
                None => Err(unauthorized(RefusalReason::TokenMissing, CHALLENGE)),
            },
            Access::OAuth(oauth) => of_server(oauth, bearer(headers)),
        }
    }
}

fn of_server(oauth: &OAuth, token: Option<&str>) -> Result<(Principal, TokenLife), HttpRefusalReply> {
    match token.map(|token| oauth.verify(token)) {
        Some(TokenVerdict::Granted(principal, life)) => Ok((principal, life)),
        Some(TokenVerdict::NoScope) => {
            let message = "Forbidden: the token does not have the required scope";
            Err(HttpRefusalReply::new(StatusCode::FORBIDDEN, RefusalReason::TokenScope, message)
                .challenging(oauth.challenge(Some("insufficient_scope"))))
        }
        Some(TokenVerdict::Invalid) => {
            Err(unauthorized(RefusalReason::TokenInvalid, oauth.challenge(Some("invalid_token"))))
        }
        None => Err(unauthorized(RefusalReason::TokenMissing, oauth.challenge(None))),
    }
}

fn unauthorized(reason: RefusalReason, challenge: HeaderValue) -> HttpRefusalReply {
    let message = "Unauthorized: send a valid token in the header `Authorization: Bearer TOKEN`";
    HttpRefusalReply::new(StatusCode::UNAUTHORIZED, reason, message).challenging(challenge)
}

fn evicted() -> HttpRefusalReply {
    let message = "Service Unavailable: too many connections; try again later";
    HttpRefusalReply::new(StatusCode::SERVICE_UNAVAILABLE, RefusalReason::Evicted, message).after(RETRY_SECONDS)
}

/// Returns the bearer token of a request, or `None` unless there is exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut written = headers.get_all(AUTHORIZATION).iter();
    let one = written.next().filter(|_| written.next().is_none())?;
    let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
    let token = token.trim_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Passes on requests with a known principal. Replaces the token by that principal, and ends the response's stream when
/// the token becomes invalid. From now on, the connection is not evicted.
pub(crate) async fn authorized(State(guard): State<Arc<TokenGuard>>, mut request: Request, next: Next) -> Response {
    match guard.identify(request.headers()) {
        Ok(_) if !keep_connection(request.extensions_mut()) => evicted().into_response(),
        Ok((principal, life)) => {
            request.headers_mut().remove(AUTHORIZATION);
            request.extensions_mut().insert(TransportIdentity { principal });
            life.end(next.run(request).await)
        }
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_with_exactly_one_token_has_a_token() {
        let token = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(AUTHORIZATION, HeaderValue::from_static(line));
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(token(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(token(&["bearer  abc "]).as_deref(), Some("abc"));
        for lines in [&[][..], &["abc"], &["Bearer"], &["Bearer "], &["Basic abc"], &["Bearer abc", "Bearer abc"]] {
            assert_eq!(token(lines), None, "{lines:?}");
        }
    }
}
