//! Signs a browser in with a link, and out.

use crate::console::ConsoleState;
use crate::guard::COOKIE_PREFIX;
use crate::html::page;
use crate::limits::SESSION_TIME;
use crate::pages::signed_out;
use crate::session::ConsoleSession;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::header::SET_COOKIE;
use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, html};
use std::sync::Arc;

/// Spends a login link, and passes the browser on with a cookie.
///
/// The browser loads the next page by itself, not by a redirection. It would not send the new cookie with a redirection
/// if the link was in a page of another site.
pub(crate) async fn sign_in(State(state): State<Arc<ConsoleState>>, Path(token): Path<String>) -> Response {
    let Some(cookie) = state.sessions.sign_in(&token) else { return signed_out() };
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
    put_cookie(&mut response, &state, &cookie, SESSION_TIME.as_secs());
    response
}

/// Signs the browser out.
pub(crate) async fn sign_out(
    State(state): State<Arc<ConsoleState>>,
    Extension(session): Extension<ConsoleSession>,
) -> Response {
    state.sessions.sign_out(&session);
    let mut response = signed_out();
    put_cookie(&mut response, &state, "", 0);
    response
}

fn put_cookie(response: &mut Response, state: &ConsoleState, value: &str, seconds: u64) {
    let cookie =
        format!("{COOKIE_PREFIX}{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}", state.own.port);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
}
