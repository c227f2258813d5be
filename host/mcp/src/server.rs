//! The server that every transport serves, and its state across requests.

use crate::approval::shared::SharedShelf;
use crate::approval::waiting::ParkedCalls;
use crate::error::ServerError;
use crate::options::ServerOptions;
use crate::stopping::TransportStop;
use crate::subscribers::Subscribers;
use crate::tasks::kept::Tasks;
use crate::tools::listing::{ListingOptions, Listings, ToolListing};
use data_encoding::HEXLOWER;
use portcullis::Host;
use portcullis::shared_calls::SharedCalls;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::sync::Arc;

/// An MCP server for the tools of a host, on one transport or several. Clones share its state.
#[derive(Clone)]
pub struct Server {
    inner: Arc<ServerState>,
    /// The stop signal of the transport that serves this clone.
    stopping: TransportStop,
}

/// How the session of a call without its own session is determined.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    /// The session that the operator set.
    Said(Arc<str>),
    /// One session for each client, derived from an id of its transport.
    OfClient {
        /// The session of the client over pipes, from a random id of this process.
        pipes: Arc<str>,
        /// The id, or an id of all hosts that share the ledger: a client's next request may reach another one.
        http: Arc<str>,
    },
}

pub(crate) struct ServerState {
    pub(crate) host: Host,
    pub(crate) options: ServerOptions,
    pub(crate) session: Session,
    pub(crate) listings: Listings,
    pub(crate) approvals: ParkedCalls,
    pub(crate) tasks: Tasks,
    /// The calls that other hosts can continue, if the host shares its ledger.
    shared: Option<SharedShelf>,
    pub(crate) subscribers: Subscribers,
}

impl Server {
    /// Creates a server for a host.
    ///
    /// # Errors
    /// Two tools would have the same name, or the system's random number generator fails.
    pub fn new(host: Host, options: ServerOptions) -> Result<Self, ServerError> {
        let session = match &options.session {
            Some(session) => Session::Said(Arc::from(session.as_str())),
            None => {
                let id = random_id()?;
                let pipes = Arc::from(format!("stdio-{id}"));
                let http = Arc::from(host.shared_calls().map_or(id, SharedCalls::hosts_id));
                Session::OfClient { pipes, http }
            }
        };
        // An unknown toolset would offer no tool to any client, so the server does not start with one.
        if let Some(toolset) = &options.toolset {
            host.policy().toolset(toolset)?;
        }
        let listed = ListingOptions { list: options.list_tools, denied: options.denied_tools };
        let listings = Listings::new(&host, options.tool_names, listed)?;
        let (approvals, tasks) = (ParkedCalls::default(), Tasks::default());
        let shared = host.shared_calls().cloned().map(SharedShelf::new);
        let subscribers = Subscribers::default();
        let inner = Arc::new(ServerState { host, options, session, listings, approvals, tasks, shared, subscribers });
        Ok(Self { inner, stopping: TransportStop::default() })
    }

    pub(crate) fn inner(&self) -> &ServerState {
        &self.inner
    }

    /// Returns the server for one transport that has its own stop signal.
    pub(crate) fn served_until(self, stopping: TransportStop) -> Self {
        Self { stopping, ..self }
    }

    /// Returns the stop signal of the transport.
    pub(crate) fn stopping(&self) -> &TransportStop {
        &self.stopping
    }

    /// Returns the calls that other hosts can continue, if the client of this request could reach another host next. A
    /// client over pipes cannot: its calls are kept in memory.
    pub(crate) fn shared(&self, cx: &RequestContext<RoleServer>) -> Option<&SharedShelf> {
        self.inner.shared.as_ref().filter(|_| cx.extensions.get::<http::request::Parts>().is_some())
    }

    /// Returns the current tools.
    pub(crate) fn listing(&self) -> Arc<ToolListing> {
        self.inner.listings.current(&self.inner.host)
    }
}

/// Returns 64 random bits in hexadecimal.
fn random_id() -> Result<String, ServerError> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|_| ServerError::NoRandomness)?;
    Ok(HEXLOWER.encode(&bytes))
}
