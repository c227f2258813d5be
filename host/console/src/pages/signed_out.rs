//! The page for a browser that is not signed in, and the form with which a person signs in.

use crate::console::ConsoleState;
use crate::refusal::{plain, refusal};
use crate::sign_in::SignInMethod;
use axum::response::Response;
use http::StatusCode;
use maud::html;

/// The field of the form that has the token.
pub(crate) const TOKEN_FIELD: &str = "token";

/// Returns the page for a browser that is not signed in.
pub(crate) fn signed_out(state: &ConsoleState) -> Response {
    match state.sign_in {
        SignInMethod::Link => {
            let why = "This browser is not signed in, or the console was started again. Open the link that \
                       `portcullis console` printed last. A link works once, for five minutes.";
            refusal(StatusCode::UNAUTHORIZED, "Signed out", why)
        }
        SignInMethod::Token(_) => form(StatusCode::UNAUTHORIZED, None),
    }
}

/// Returns the page for a browser whose connection has to make room.
pub(crate) fn evicted() -> Response {
    let why = "The server has too many connections. Load the page again.";
    refusal(StatusCode::SERVICE_UNAVAILABLE, "Too many connections", why)
}

/// Returns the page on which a person signs in with a token.
pub(crate) fn form(status: StatusCode, refused: Option<&str>) -> Response {
    let content = html! {
        @if let Some(why) = refused { p.bad role="alert" { (why) } }
        form.explain method="post" action="/sign-in" {
            label for="token" { "Your token as an approver" }
            input #token type="password" name=(TOKEN_FIELD) autocomplete="current-password" required autofocus;
            div { button.primary type="submit" { "Sign in" } }
        }
        p { small { "The operator of this server gives you the token. The token of an agent does not work here." } }
    };
    plain(status, "Sign in", &content)
}
