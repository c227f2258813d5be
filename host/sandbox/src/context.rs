//! What a tool sees of its call, and what it can say back while it runs.

use crate::http::Traffic;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The longest text a guest may send in one field of a report or an ask, in bytes; what is over it is cut.
const TEXT_BYTES_MAX: usize = 4096;

/// Progress of a call: the guest's words, hostile text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// A few words.
    pub title: Option<String>,
    /// One JSON object, unchecked.
    pub metadata: Option<String>,
    /// From 0 to 1.
    pub fraction: Option<f32>,
}

/// A tool's question in the middle of a call: the guest's words, hostile text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The name of a permission.
    pub permission: String,
    /// What the permission is for.
    pub resource: String,
    /// Why the tool asks.
    pub reason: String,
}

/// The host's side of a running call.
pub trait CallHost: Send + Sync + 'static {
    /// Takes a report of progress. Called at most as often as the limit says.
    fn report(&self, progress: Progress);

    /// Answers an ask; the error tells the guest why not.
    fn ask(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;

    /// Takes what a run did over the network that was dropped before it ended. Any other run returns it.
    fn traffic(&self, traffic: Traffic);
}

/// One call, as its tool may know it.
#[derive(Clone)]
pub struct CallContext {
    /// The id of the call.
    pub id: Arc<str>,
    /// The session it belongs to.
    pub session: Arc<str>,
    /// The message that asked for it.
    pub message: Option<Arc<str>>,
    /// The agent that asked for it.
    pub agent: Option<Arc<str>>,
    /// Takes reports and asks.
    pub host: Arc<dyn CallHost>,
    /// How long a person may take to answer an ask; the run's own time stands still meanwhile.
    pub approval_time: Duration,
}

/// Cuts a guest's text at a character boundary.
pub(crate) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}
