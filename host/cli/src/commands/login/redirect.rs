//! The address on the loopback interface to which the browser of a login returns (RFC 8252 section 7.3).

use axum::Router;
use axum::extract::{OriginalUri, State};
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use portcullis_listener::{ListenerLimits, bind, serve};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The path of the address.
const PATH: &str = "/callback";

/// Maximum connections that wait to be accepted.
const WAITING_MAX: u32 = 16;

/// The limits of the listener. Only the user's own browser has a reason to connect.
const LISTENER: ListenerLimits = ListenerLimits {
    connections: 8,
    headers: 64,
    headers_bytes: 32 * 1024,
    first_headers_time: Duration::from_secs(10),
    headers_time: Duration::from_secs(10),
    linger_time: Duration::from_secs(1),
    stop_time: Duration::from_secs(2),
};

/// What the browser shows in the end.
const RETURNED: &str = "<!doctype html><meta charset=utf-8><title>Portcullis</title>\
    <p>You can close this window and go back to the terminal.</p>";

/// What the browser shows if it has another address than the one of the login.
const FOREIGN: &str = "<!doctype html><meta charset=utf-8><title>Portcullis</title>\
    <p>This address does not belong to the login that is under way.</p>";

/// A listener to which the browser returns. It is closed when this is dropped.
pub(super) struct Redirect {
    port: u16,
    returned: mpsc::Receiver<ReturnedBrowser>,
    stopping: CancellationToken,
    serving: Option<JoinHandle<()>>,
}

/// An address with which a browser came, and the way to answer it.
struct ReturnedBrowser {
    address: String,
    is_answer: oneshot::Sender<bool>,
}

#[derive(Clone)]
struct RedirectState {
    port: u16,
    returned: mpsc::Sender<ReturnedBrowser>,
}

impl Redirect {
    /// Listens at a port of the loopback interface, or at any free one.
    ///
    /// # Errors
    /// The port is taken.
    pub(super) fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0))), WAITING_MAX)?;
        let port = listener.local_addr()?.port();
        let (sender, returned) = mpsc::channel(1);
        let router = Router::new().route(PATH, get(receive)).with_state(RedirectState { port, returned: sender });
        let stopping = CancellationToken::new();
        let serving = Some(tokio::spawn(serve(listener, router, LISTENER, stopping.clone())));
        Ok(Self { port, returned, stopping, serving })
    }

    /// Returns the address.
    pub(super) fn address(&self) -> String {
        format!("http://{}:{}{PATH}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Waits until a browser comes with the answer of the login. Every page of the browser can send others.
    pub(super) async fn answer(&mut self, is_answer: impl Fn(&str) -> bool) -> String {
        loop {
            let Some(returned) = self.returned.recv().await else { return std::future::pending().await };
            let is_answer = is_answer(&returned.address);
            // A browser that is gone does not matter.
            let _ = returned.is_answer.send(is_answer);
            if is_answer {
                return returned.address;
            }
        }
    }

    /// Closes the listener, after the browser has its page.
    pub(super) async fn close(mut self) {
        self.stopping.cancel();
        if let Some(serving) = self.serving.take() {
            // It has a limit of its own.
            let _ = serving.await;
        }
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

async fn receive(
    State(state): State<RedirectState>,
    OriginalUri(uri): OriginalUri,
) -> (StatusCode, Html<&'static str>) {
    let query = uri.query().unwrap_or_default();
    // Not from the `Host` header, which a client can set to anything.
    let address = format!("http://{}:{}{PATH}?{query}", Ipv4Addr::LOCALHOST, state.port);
    let (sender, is_answer) = oneshot::channel();
    let sent = state.returned.send(ReturnedBrowser { address, is_answer: sender }).await;
    if sent.is_ok() && is_answer.await.unwrap_or(false) {
        (StatusCode::OK, Html(RETURNED))
    } else {
        (StatusCode::BAD_REQUEST, Html(FOREIGN))
    }
}
