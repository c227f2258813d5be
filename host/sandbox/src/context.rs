//! What a tool sees of its call, and what it can say back while it runs.

use crate::effects::Effects;
use crate::http::Traffic;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The longest text a guest may send in one field of a report or an ask, in bytes; what is over it is cut.
const TEXT_BYTES_MAX: usize = 4096;

/// The largest piece of an answer that is handed on at once, in bytes: as much as a pipe holds, so that a tool writes
/// with few calls, and little enough that every call at once costs the host next to nothing.
pub const OUTPUT_PIECE_BYTES_MAX: usize = 64 * 1024;

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
    /// What a remembered approval may cover, as the tool proposes. Each is a directory of resources, unchecked.
    pub patterns: Vec<String>,
}

/// The host's side of a running call.
pub trait CallHost: Send + Sync + 'static {
    /// Takes a report of progress. Called at most as often as the limit says.
    fn report(&self, progress: Progress);

    /// Answers an ask; the error tells the guest why not.
    fn ask(&self, ask: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;

    /// Takes the next piece of the text answer: UTF-8, whole characters, without the secrets of the call's requests,
    /// and never more than [`OUTPUT_PIECE_BYTES_MAX`]. The pieces of one call come one after another, the last before
    /// the run returns. After an error none comes, and the run ends at its limit.
    ///
    /// # Errors
    /// There is no room for it, or it cannot be kept.
    fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull>;

    /// Takes what a run did over the network that was dropped before it ended. Any other run returns it.
    fn traffic(&self, traffic: Traffic);

    /// Takes what a run did to its directories that was dropped before it ended. Any other run returns it.
    fn effects(&self, effects: Effects);
}

/// There is no room for more of a call's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no room for more of the answer")]
pub struct OutputFull;

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
