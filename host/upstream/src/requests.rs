//! What a server can ask the host, and what the host can reply.

use serde_json::Value;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};

/// A request of a server. Untrusted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerRequest {
    /// The server asks the user.
    Elicitation(ElicitationRequest),
    /// The server asks for a completion of a model: the parameters of `sampling/createMessage`.
    Sampling(Value),
    /// The server asks for the folders that it may work in.
    Roots,
}

/// What a server asks the user. Untrusted.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationRequest {
    /// The question.
    pub message: String,
    /// How the user can answer.
    pub form: ElicitationForm,
}

/// How the user can answer a question of a server. Untrusted.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationForm {
    /// By filling in a form, with this JSON Schema.
    Fields(Value),
    /// At this address.
    Url(String),
}

/// A reply to a request of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerReply {
    /// The host does not do what the server asks for.
    Refused,
    /// The user's answer.
    Elicited(ElicitationReply),
    /// The completion: the result of `sampling/createMessage`.
    Sampled(Value),
    /// The folders.
    Roots(Vec<RootFolder>),
}

/// A user's answer to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationReply {
    /// The user filled in the form. The value is an object, or null for an address.
    Accepted(Value),
    /// The user said no.
    Declined,
    /// The user did not decide.
    Cancelled,
}

/// A folder that a server may work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootFolder {
    /// The `file://` address of the folder.
    pub uri: String,
    /// The folder's name for people.
    pub name: Option<String>,
}

/// The kinds of request that the host tells a server it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestKinds {
    /// [`ServerRequest::Elicitation`]
    pub elicitation: bool,
    /// [`ServerRequest::Sampling`]
    pub sampling: bool,
    /// [`ServerRequest::Roots`]
    pub roots: bool,
}

/// The future of a reply.
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = ServerReply> + Send + 'a>>;

/// Replies to the requests of a server.
pub trait ServerRequests: Send + Sync + 'static {
    /// Returns what the server is told it can ask for. It can ask for anything all the same.
    fn supported(&self) -> RequestKinds {
        RequestKinds::default()
    }

    /// Replies to a request. The future is dropped when the call or the connection ends.
    fn reply(&self, request: ServerRequest) -> ReplyFuture<'_>;
}

/// Refuses every request of a server, and counts them.
#[derive(Debug, Default)]
pub struct RefuseRequests {
    refused: AtomicU64,
    supported: RequestKinds,
}

impl RefuseRequests {
    /// Refuses every request outside of calls. During a call, the replier of the call answers these kinds.
    pub fn outside_of_calls(supported: RequestKinds) -> Self {
        Self { refused: AtomicU64::new(0), supported }
    }

    /// Returns how many requests were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl ServerRequests for RefuseRequests {
    fn supported(&self) -> RequestKinds {
        self.supported
    }

    fn reply(&self, _: ServerRequest) -> ReplyFuture<'_> {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(ServerReply::Refused))
    }
}
