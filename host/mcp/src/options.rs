//! The operator's options for a server, on any transport.

use portcullis::plugins::ToolNames;
use portcullis::policy::Principal;
use std::time::Duration;

/// Default time that a call waits for an approver. Clients commonly time out after 60 seconds, and the result must
/// arrive before that.
pub const APPROVAL_WAIT_DEFAULT: Duration = Duration::from_secs(45);

/// The behaviour of a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The principal of clients that the transport does not identify.
    pub principal: Principal,
    /// The session of calls that have no session of their own.
    pub session: Option<String>,
    /// Whether a client's answer to an approval request counts as a person's.
    pub client_answers: ClientAnswers,
    /// How tools are named. With short names, the server does not start if two plugins have a tool of the same name.
    pub tool_names: ToolNames,
    /// Which tools are listed.
    pub list_tools: ListTools,
    /// The toolset that every client is limited to. Other tools do not exist for them. The offers of the policy narrow
    /// it further.
    pub toolset: Option<String>,
    /// Whether to list tools that can never run under the policy.
    pub denied_tools: DeniedTools,
    /// Whether a truncated result links to the kept output. Some clients cannot read a link.
    pub resource_links: bool,
    /// Maximum time that a call waits for an approver if its client does not ask one itself. After that, the client
    /// gets a result that says so, and makes the same call again after the approval.
    pub approval_wait: Duration,
    /// How long a call runs before a client that supports tasks is given a task. With zero, every call of such a client
    /// is a task from its start.
    pub task_after: Duration,
}

/// Whether a client may answer approval requests for its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAnswers {
    /// It may not, because nothing proves that the client asked a person. Approval requests wait for the other
    /// channels.
    #[default]
    NotAPerson,
    /// Its answers count as a person's. The operator vouches for the client.
    Person,
}

/// Which tools a client is shown. It can call any tool by name in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListTools {
    /// Every tool.
    #[default]
    All,
    /// The host's own tools and two more: `tools__search` finds the others and returns their definitions, and
    /// `tools__call` calls them. For large catalogs, which a model would otherwise read in every turn.
    Search,
}

/// Whether to list tools that can never run under the policy: those denied to every caller, or without a grant that
/// they need. A call of such a tool by name gets the policy's reason in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeniedTools {
    /// They are neither listed nor found by a search, so that no model spends a turn on them.
    #[default]
    Hide,
    /// They are listed like every other tool.
    List,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            principal: Principal::default(),
            session: None,
            client_answers: ClientAnswers::default(),
            tool_names: ToolNames::default(),
            list_tools: ListTools::default(),
            toolset: None,
            denied_tools: DeniedTools::default(),
            resource_links: true,
            approval_wait: APPROVAL_WAIT_DEFAULT,
            task_after: Duration::from_secs(10),
        }
    }
}
