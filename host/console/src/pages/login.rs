//! Signs a browser in with a link or with a token of an approver, and out.

use crate::console::ConsoleState;
use crate::guard::COOKIE_PREFIX;
use crate::html::page;
use crate::limits::{FORM_TIME, SESSION_TIME, SIGN_IN_BYTES_MAX};
use crate::pages::signed_out::{TOKEN_FIELD, evicted, form, signed_out};
use crate::pages::{not_found, redirect};
use crate::query::PageQuery;
use crate::session::ConsoleSession;
use crate::sign_in::SignInMethod;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use http::header::{ORIGIN, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Limited};
use maud::{DOCTYPE, html};
use portcullis_listener::{RefusedApprover, keep_connection};
use std::sync::Arc;
use tokio::time::timeout;

/// The reply to a form that is not one.
const NO_FORM: &str = "The form did not arrive, or it is too long.";

/// Spends a login link, and passes the browser on with a cookie.
///
/// The browser loads the next page by itself, not by a redirection. It would not send the new cookie with a redirection
/// if the link was in a page of another site.
pub(crate) async fn sign_in(State(state): State<Arc<ConsoleState>>, Path(token): Path<String>) -> Response {
    let Some(cookie) = state.sessions.sign_in(&token) else { return signed_out(&state) };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0; url=/inbox";
                title { "Portcullis" }
                link rel="stylesheet" href="/console.css";
            }
            body.plain { main { p { a href="/inbox" { "Signed in: open the inbox" } } } }
        }
    };
    let mut response = page(StatusCode::OK, markup);
    put_cookie(&mut response, &state, &cookie, SESSION_TIME.as_secs(), Channel::Plain);
    response
}

/// Signs a person in with the token of an approver. The form came from the page of this console: the guards checked its
/// origin.
pub(crate) async fn sign_in_with_token(State(state): State<Arc<ConsoleState>>, request: Request) -> Response {
    let SignInMethod::Token(tokens) = &state.sign_in else { return not_found().await };
    let (mut parts, body) = request.into_parts();
    let read = timeout(FORM_TIME, Limited::new(body, SIGN_IN_BYTES_MAX).collect()).await;
    let Ok(Ok(read)) = read else { return form(StatusCode::BAD_REQUEST, Some(NO_FORM)) };
    let fields = PageQuery::parse(&read.to_bytes());
    let approver = match tokens.verify(fields.get(TOKEN_FIELD).trim()) {
        Ok(approver) => approver,
        Err(why) => {
            let mut refused = form(StatusCode::FORBIDDEN, Some(why));
            // The server around this console counts and logs refused tokens.
            refused.extensions_mut().insert(RefusedApprover);
            return refused;
        }
    };
    // Only a valid token keeps the connection. Those of unknown clients make room for others.
    if !keep_connection(&mut parts.extensions) {
        return evicted();
    }
    let Some((cookie, ended)) = state.sessions.sign_in_as(approver.principal) else {
        return form(StatusCode::INTERNAL_SERVER_ERROR, Some("The system provides no randomness."));
    };
    // The session can end before the token, for example by signing out. The task then ends with it.
    tokio::spawn(async move {
        tokio::select! {
            () = approver.over => ended.cancel(),
            () = ended.cancelled() => {}
        }
    });
    let mut response = redirect("/inbox");
    put_cookie(&mut response, &state, &cookie, SESSION_TIME.as_secs(), Channel::of(&parts.headers));
    response
}

/// Signs the browser out.
pub(crate) async fn sign_out(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
    headers: HeaderMap,
) -> Response {
    state.sessions.sign_out(&session);
    let mut response = signed_out(&state);
    put_cookie(&mut response, &state, "", 0, Channel::of(&headers));
    response
}

/// How a form reached the console.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    /// Without encryption, on this machine.
    Plain,
    /// Through a proxy that encrypts. The browser must not send the cookie without encryption.
    Encrypted,
}

impl Channel {
    fn of(headers: &HeaderMap) -> Self {
        let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes).unwrap_or_default();
        if origin.starts_with(b"https://") { Self::Encrypted } else { Self::Plain }
    }
}

fn put_cookie(response: &mut Response, state: &ConsoleState, value: &str, seconds: u64, channel: Channel) {
    let name = format!("{COOKIE_PREFIX}{}", state.own.port);
    let secure = if channel == Channel::Encrypted { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    // The value is base64url, so this does not fail.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
}
