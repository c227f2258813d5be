//! What a caller asks for.

use portcullis_sandbox::Cancellation;
use std::sync::Arc;

/// One request to run one tool.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) tool: String,
    pub(crate) arguments: Vec<u8>,
    pub(crate) origin: Origin,
    pub(crate) cancellation: Cancellation,
}

/// Where a request comes from. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) session: Arc<str>,
    pub(crate) principal: Arc<str>,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) agent: Option<Arc<str>>,
}

impl Request {
    /// Asks for `plugin.tool` with arguments as JSON text: an object, or a string that holds one.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Self {
        Self {
            tool: tool.into(),
            arguments: arguments.into(),
            origin: Origin { session: Arc::from("default"), principal: Arc::from("local"), message: None, agent: None },
            cancellation: Cancellation::new(),
        }
    }

    /// The session the call belongs to; `default` unless said.
    #[must_use]
    pub fn session(mut self, session: &str) -> Self {
        self.origin.session = Arc::from(session);
        self
    }

    /// On whose behalf the call is made; `local` unless said.
    #[must_use]
    pub fn principal(mut self, principal: &str) -> Self {
        self.origin.principal = Arc::from(principal);
        self
    }

    /// The message of the conversation that asked for it.
    #[must_use]
    pub fn message(mut self, message: &str) -> Self {
        self.origin.message = Some(Arc::from(message));
        self
    }

    /// The agent that asks.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.origin.agent = Some(Arc::from(agent));
        self
    }

    /// How the call can be cancelled. Dropping the future of the call ends it too, at once.
    #[must_use]
    pub fn cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = cancellation;
        self
    }
}
