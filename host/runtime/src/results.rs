//! The budget of a conversation's results. When the results of a session exceed it, the host says which older ones to
//! replace, and with which text. It changes no conversation itself: the embedder has the messages.

mod budget;
mod conversation;
mod history;
mod kept_result;
mod result_tokens;

pub use budget::ResultsBudget;
pub use conversation::ConversationResults;
pub(crate) use history::ResultHistory;

use crate::outputs::Reader;
use std::sync::Arc;

/// The results of the conversations of a host, for the embedder that holds the messages. Clones share them.
#[derive(Clone, Debug)]
pub struct Results(Option<Arc<ResultHistory>>);

impl Results {
    pub(crate) fn new(history: Option<Arc<ResultHistory>>) -> Self {
        Self(history)
    }

    /// Returns the results of a conversation: of the calls with this session and principal. It has none if the host has
    /// no budget, or has forgotten the conversation.
    ///
    /// An embedder that sends its messages again with every turn can apply the list before each of them:
    ///
    /// ```no_run
    /// use portcullis::outputs::Reader;
    /// use portcullis::policy::Principal;
    ///
    /// struct Message { call: String, text: String }
    ///
    /// fn shorten(host: &portcullis::Host, messages: &mut [Message]) {
    ///     let reader = Reader { session: "chat-7", principal: &Principal::default() };
    ///     for trimmed in host.results().conversation(reader).trimmed {
    ///         for message in messages.iter_mut().filter(|message| message.call == trimmed.call) {
    ///             message.text = trimmed.text.clone();
    ///         }
    ///     }
    /// }
    /// ```
    pub fn conversation(&self, reader: Reader<'_>) -> ConversationResults {
        self.0.as_ref().map(|history| history.conversation(reader)).unwrap_or_default()
    }

    /// Forgets the results of a conversation that has ended. Its kept outputs stay readable.
    pub fn forget(&self, reader: Reader<'_>) {
        if let Some(history) = &self.0 {
            history.forget(reader);
        }
    }
}
