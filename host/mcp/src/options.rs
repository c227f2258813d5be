//! What the operator says of a server, whichever transport it has.

use portcullis::plugins::ToolNames;
use portcullis::policy::Principal;
use std::time::Duration;

/// How long a call waits for an approver by default. Clients commonly give up after 60 seconds, and the result must
/// arrive before.
pub const APPROVAL_WAIT_DEFAULT: Duration = Duration::from_secs(45);

/// How a server behaves.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// On whose behalf clients call, where nothing in the transport says who they are.
    pub principal: Principal,
    /// The session of calls that come without one of their own.
    pub session: Option<String>,
    /// Whether what a client answers to an approval counts as a person's word.
    pub client_answers: ClientAnswers,
    /// How tools are named. With short names, the server does not start where two plugins have a tool of one name.
    pub tool_names: ToolNames,
    /// Which tools are listed.
    pub list_tools: ListTools,
    /// Whether the tools are listed that no call could run under the policy.
    pub denied_tools: DeniedTools,
    /// Whether a result links to the kept output that it is cut from. Some clients cannot read a link.
    pub resource_links: bool,
    /// Maximum time that a call waits for an approver if its client does not ask one itself. After that the client gets
    /// a result that says so, and makes the same call again after the approval.
    pub approval_wait: Duration,
    /// How long a call may run before a client that can wait for a task is given one.
    pub task_after: Duration,
}

/// Whether a client may answer for the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAnswers {
    /// It may not: the client is a program, and nothing proves that it asked anybody. Questions wait for the other
    /// channels.
    #[default]
    Nobody,
    /// Its answers are a person's. The operator vouches for the client.
    Person,
}

/// Which tools a client is shown. It can call any tool by its name in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListTools {
    /// Every tool.
    #[default]
    All,
    /// The host's own tools and two more: `tools__search` finds the others and gives their definitions, and
    /// `tools__call` calls them. For large catalogs, which a model would have to read in every turn.
    Search,
}

/// What becomes of tools that can never run under the policy: denied to every caller, or without a grant that they
/// need. A call of such a tool by its name gets the policy's reason in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeniedTools {
    /// They are neither listed nor found, so that no model spends a turn on them.
    #[default]
    Hide,
    /// They are listed as every other tool.
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
            denied_tools: DeniedTools::default(),
            resource_links: true,
            approval_wait: APPROVAL_WAIT_DEFAULT,
            task_after: Duration::from_secs(10),
        }
    }
}
