//! What a policy says about an MCP server whose tools the host offers.
//!
//! The server is a plugin of the same name. Its program or its client is bound under [`ServerPolicy::BINDING`]. This
//! file must not know how a server is started, or what it offers.

use std::collections::BTreeMap;

use crate::name::LocalName;
use crate::permission::{Permission, Permissions};

/// What happens to a question that a server asks its user during a call (elicitation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerQuestions {
    /// It is declined.
    #[default]
    Refuse,
    /// It becomes an approval request, if yes is an answer to it.
    Ask,
}

impl ServerQuestions {
    /// Both values, in display order.
    pub const ALL: [Self; 2] = [Self::Refuse, Self::Ask];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Ask => "ask",
        }
    }
}

/// What of a server is passed on besides its tools. Each becomes tools of the host, so that calls take all steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerOffers {
    /// Its resources.
    pub resources: bool,
    /// Its prompts.
    pub prompts: bool,
}

/// What a policy says about an MCP server, besides its bindings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPolicy {
    permissions: Permissions,
    tools: BTreeMap<LocalName, Permissions>,
    questions: ServerQuestions,
    offers: ServerOffers,
}

impl ServerPolicy {
    /// The key of the server's program among the bindings, or of the client that reaches the server.
    pub const BINDING: &'static str = "server";

    /// The key of the client through which the server's program reaches the network.
    pub const NETWORK: &'static str = "network";

    pub(crate) fn new(
        permissions: Option<Permissions>,
        tools: BTreeMap<LocalName, Permissions>,
        (questions, offers): (ServerQuestions, ServerOffers),
    ) -> Self {
        // The host cannot know what a tool of a server does, so it expects all that a program can do to others.
        let default = || [Permission::Network, Permission::Execute].into_iter().collect();
        Self { permissions: permissions.unwrap_or_else(default), tools, questions, offers }
    }

    /// Returns what is passed on besides tools.
    pub fn offers(&self) -> ServerOffers {
        self.offers
    }

    /// Returns what happens to the questions of the server.
    pub fn questions(&self) -> ServerQuestions {
        self.questions
    }

    /// Returns the permissions that rules see for a tool. They do not limit what the server can do: its bindings do.
    pub fn permissions(&self, tool: &LocalName) -> Permissions {
        self.tools.get(tool).copied().unwrap_or(self.permissions)
    }
}
