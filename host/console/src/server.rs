//! Binds the loopback address, and lays out the routes with their guards.

use crate::assets;
use crate::console::ConsoleState;
use crate::console_watch::ConsoleWatch;
use crate::guard::{self, OwnHost};
use crate::host_slot::HostSource;
use crate::limits::LISTENER;
use crate::live_calls::LiveCalls;
use crate::log::CallLog;
use crate::pages;
use crate::pause_switch::PauseSwitch;
use crate::policy_pause::PolicyPause;
use crate::resumed::ResumedCalls;
use crate::session::ConsoleSessions;
use crate::sign_in::SignInMethod;
use crate::watcher;
use crate::{answer, events};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use portcullis::audit::AuditError;
use portcullis::live::LiveReader;
use portcullis::{Approvals, AuditReader};
use portcullis_listener::bind;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Length of the system's queue of connections to accept.
const WAITING_CONNECTIONS_MAX: u32 = 128;

/// What a console shows.
#[derive(Debug)]
pub struct ConsoleOptions {
    /// The state directory, for the feed of the calls of its hosts.
    pub state: PathBuf,
    /// The approval requests and remembered approvals.
    pub approvals: Approvals,
    /// The audit log.
    pub audit: AuditReader,
    /// The host.
    pub host: HostSource,
    /// The policy files, the user's first.
    pub policy_files: Vec<PathBuf>,
    /// Pauses and resumes the policy.
    pub pause: Arc<dyn PauseSwitch>,
    /// Whether the console may end a pause. If not, the operator does so with `portcullis resume`.
    pub may_resume: bool,
}

/// The error for a console that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// The address cannot be bound.
    #[error("the console cannot listen at {address}: {source}; choose another port with --port, or none")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// The audit log cannot be read.
    #[error("the console cannot read the audit log")]
    Audit(#[from] AuditError),
    /// The system provides no randomness.
    #[error("the system provides no randomness for the login link")]
    Random,
}

/// A running console. Dropping it stops it, without waiting for its connections.
pub struct Running {
    address: SocketAddr,
    state: Arc<ConsoleState>,
    connections: JoinHandle<()>,
}

/// Starts a console on the loopback address, at a port or at a free one if it is 0.
///
/// # Errors
/// The address cannot be bound, or the system provides no randomness.
pub async fn serve(port: u16, options: ConsoleOptions) -> Result<Running, ConsoleError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = bind(address, WAITING_CONNECTIONS_MAX).map_err(|source| ConsoleError::Listen { address, source })?;
    // The port may have been 0, and the guards compare the real one.
    let address = listener.local_addr().map_err(|source| ConsoleError::Listen { address, source })?;
    let place =
        ConsolePlace { own: OwnHost::bound(address), sign_in: SignInMethod::Link, stopping: CancellationToken::new() };
    let state = begin(options, place, process_id()?);
    let connections =
        tokio::spawn(portcullis_listener::serve(listener, router(&state), LISTENER, state.stopping.clone()));
    Ok(Running { address, state, connections })
}

impl Running {
    /// Returns the address that the console listens on. Plugins must not reach it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Creates a login link. It signs one browser in, once, within [`crate::LINK_TIME`].
    ///
    /// # Errors
    /// The system provides no randomness.
    pub fn link(&self) -> Result<String, ConsoleError> {
        let token = self.state.sessions.link().ok_or(ConsoleError::Random)?;
        Ok(format!("http://{}/login/{token}", self.address))
    }

    /// Stops the console. Open requests may finish.
    pub async fn stop(mut self) {
        self.state.stopping.cancel();
        // If the task panicked, its connections are gone too.
        drop((&mut self.connections).await);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.state.stopping.cancel();
    }
}

impl std::fmt::Debug for Running {
    /// Leaves out the sessions.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Returns an id of this process for its pages.
pub(crate) fn process_id() -> Result<String, ConsoleError> {
    // Only the random text is used. The table with the link is dropped, so it signs no one in.
    ConsoleSessions::default().link().ok_or(ConsoleError::Random)
}

/// Where a console is, and who may use it.
pub(crate) struct ConsolePlace {
    pub(crate) own: OwnHost,
    pub(crate) sign_in: SignInMethod,
    pub(crate) stopping: CancellationToken,
}

/// Begins to follow the state directory, for the pages of a console.
pub(crate) fn begin(options: ConsoleOptions, place: ConsolePlace, process: String) -> Arc<ConsoleState> {
    let state = Arc::new(ConsoleState {
        own: Arc::new(place.own),
        sign_in: place.sign_in,
        sessions: ConsoleSessions::default(),
        approvals: options.approvals,
        log: CallLog::new(options.audit),
        host: options.host,
        watch: ConsoleWatch::default(),
        live: LiveCalls::default(),
        resumed: ResumedCalls::default(),
        policy_files: options.policy_files,
        pause: PolicyPause { switch: options.pause, may_resume: options.may_resume },
        process,
        streams: ConsoleState::stream_permits(),
        stopping: place.stopping,
    });
    tokio::spawn(watcher::follow(Arc::clone(&state), LiveReader::open(options.state)));
    state
}

/// Returns the routes with their guards. A layer that is added later runs earlier.
pub(crate) fn router(state: &Arc<ConsoleState>) -> Router {
    let inside = Router::new()
        .route("/", get(pages::home))
        .route("/inbox", get(pages::inbox::first))
        .route("/inbox/answer", post(answer::answer))
        .route("/inbox/review", get(pages::review::show))
        .route("/inbox/{id}", get(pages::inbox::show))
        .route("/live", get(pages::live::show))
        .route("/log", get(pages::log::show))
        .route("/log/{call}", get(pages::call::show))
        .route("/tools", get(pages::tools::show))
        .route("/remembered", get(pages::remembered::show))
        .route("/remembered/revoke", post(pages::remembered::revoke))
        .route("/policy", get(pages::policy::show))
        .route("/policy/explain", post(pages::policy::explain))
        .route("/pause", post(pages::pause::pause))
        .route("/resume", get(pages::pause::preview).post(pages::pause::resume))
        .route("/sign-out", post(pages::login::sign_out))
        .route("/events", get(events::stream))
        // `route_layer` skips requests that match no route, so the fallbacks below need no session.
        .route_layer(from_fn(guard::read_form))
        .route_layer(from_fn_with_state(Arc::clone(state), guard::signed_in));
    let outside = Router::new()
        .route("/login/{token}", get(pages::login::sign_in))
        .route("/sign-in", post(pages::login::sign_in_with_token))
        .route("/console.css", get(assets::style))
        .route("/console.js", get(assets::script))
        .route("/icon.svg", get(assets::icon));
    inside
        .merge(outside)
        .fallback(pages::not_found)
        .method_not_allowed_fallback(pages::wrong_method)
        .with_state(Arc::clone(state))
        // `own_origin` compares the origin with the `Host` header, so `known_host` runs first. `seal` is the outermost,
        // so that a refusal has its headers too.
        .layer(from_fn_with_state(Arc::clone(&state.own), guard::own_origin))
        .layer(from_fn_with_state(Arc::clone(&state.own), guard::known_host))
        .layer(from_fn(guard::seal))
}
