//! The pages, one file each. A page reads what it shows anew, and encodes every text that is not the host's.

pub(crate) mod call;
mod call_group;
mod change;
mod chart;
mod frame;
pub(crate) mod inbox;
mod latency;
pub(crate) mod live;
mod live_call;
pub(crate) mod log;
pub(crate) mod login;
pub(crate) mod pause;
mod pause_control;
pub(crate) mod policy;
pub(crate) mod remembered;
mod reply;
mod request;
mod request_list;
pub(crate) mod review;
mod rows;
pub(crate) mod signed_out;
pub(crate) mod tools;

use crate::refusal::refusal;
use axum::body::Body;
use axum::response::Response;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};

/// Redirects the address of the console to its first page.
pub(crate) async fn home() -> Response {
    redirect("/inbox")
}

/// Returns a redirection to a page of the console, which the browser loads with GET.
pub(crate) fn redirect(place: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    // A place can contain an id from a form, and so a character that no header can have.
    let place = HeaderValue::from_str(place).unwrap_or(HeaderValue::from_static("/inbox"));
    response.headers_mut().insert(LOCATION, place);
    response
}

/// Returns the page for an address that does not exist.
pub(crate) async fn not_found() -> Response {
    refusal(StatusCode::NOT_FOUND, "No such page", "The console has no such page.")
}

/// Returns the page for a method that an address does not have.
pub(crate) async fn wrong_method() -> Response {
    refusal(StatusCode::METHOD_NOT_ALLOWED, "Wrong method", "This address has no such method.")
}
