//! The results of all conversations of a host, bounded in number.

use super::budget::ResultsBudget;
use super::conversation::{Conversation, ConversationResults, CountedResult};
use super::{kept_result, result_tokens};
use crate::ledger::OutputOrigin;
use crate::origin::RequestOrigin;
use crate::outputs::{OutputKeeper, Reader, session_name};
use crate::reply::Reply;
use crate::trimmed_result::TrimmedResult;
use portcullis_policy::ToolName;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Maximum conversations whose results are counted. With more, the one without a call for the longest time is
/// forgotten.
const CONVERSATIONS_MAX: usize = 64;

/// The results of all conversations of a host.
pub(crate) struct ResultHistory {
    budget: ResultsBudget,
    outputs: OutputKeeper,
    conversations: Mutex<Conversations>,
}

#[derive(Default)]
struct Conversations {
    /// Each conversation by its session and principal, with the number of the last call.
    known: HashMap<(String, String), (u64, Conversation)>,
    calls: u64,
}

impl fmt::Debug for ResultHistory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResultHistory").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl ResultHistory {
    pub(crate) fn new(budget: ResultsBudget, outputs: OutputKeeper) -> Self {
        Self { budget, outputs, conversations: Mutex::default() }
    }

    /// Counts the result of a call, and keeps what a model could need when the result is replaced. Returns the reply
    /// with the results that are to be replaced.
    /// `ran` is the tool, if it has run.
    pub(crate) async fn count(self: &Arc<Self>, origin: &RequestOrigin, ran: Option<&ToolName>, reply: Reply) -> Reply {
        let origin = OutputOrigin {
            session: session_name(&origin.session),
            principal: origin.principal.to_string(),
            call: reply.id.clone(),
            tool: ran.map(ToString::to_string).unwrap_or_default(),
        };
        let (history, ran, counted) = (Arc::clone(self), ran.cloned(), reply.clone());
        // Counting a long text takes time, and keeping it writes to the disk.
        let trimmed =
            tokio::task::spawn_blocking(move || history.blocking_count(&origin, ran.as_ref(), &counted)).await;
        Reply { trimmed: trimmed.unwrap_or_default(), ..reply }
    }

    fn blocking_count(&self, origin: &OutputOrigin, ran: Option<&ToolName>, reply: &Reply) -> Vec<TrimmedResult> {
        let tokens = result_tokens::of(reply);
        let replacement = ran.and_then(|tool| kept_result::replacement(&self.outputs, (origin, tool), reply, tokens));
        let replacement = replacement.map(Arc::from);
        let (call, tool) = (Arc::from(origin.call.as_str()), Arc::from(origin.tool.as_str()));
        let result = CountedResult { call, tool, tokens, replacement };
        let key = (origin.session.clone(), origin.principal.clone());
        self.conversations.lock_recovered().get(key).add(result, self.budget)
    }

    pub(super) fn conversation(&self, reader: Reader<'_>) -> ConversationResults {
        let conversations = self.conversations.lock_recovered();
        conversations.known.get(&key(reader)).map(|(_, found)| found.summary()).unwrap_or_default()
    }

    pub(super) fn forget(&self, reader: Reader<'_>) {
        self.conversations.lock_recovered().known.remove(&key(reader));
    }
}

fn key(reader: Reader<'_>) -> (String, String) {
    (session_name(reader.session), reader.principal.to_string())
}

impl Conversations {
    /// Returns a conversation that has a call now. Forgets another one if there are too many.
    fn get(&mut self, key: (String, String)) -> &mut Conversation {
        if !self.known.contains_key(&key) && self.known.len() >= CONVERSATIONS_MAX {
            let oldest = self.known.iter().min_by_key(|(_, (called, _))| *called).map(|(key, _)| key.clone());
            oldest.map(|oldest| self.known.remove(&oldest));
        }
        self.calls += 1;
        let (called, conversation) = self.known.entry(key).or_default();
        *called = self.calls;
        conversation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversation_without_a_call_for_the_longest_time_is_forgotten() {
        let mut conversations = Conversations::default();
        let key = |number: usize| (number.to_string(), "local".to_owned());
        for number in 0..CONVERSATIONS_MAX {
            conversations.get(key(number));
        }
        conversations.get(key(0));
        conversations.get(key(CONVERSATIONS_MAX));
        assert_eq!(conversations.known.len(), CONVERSATIONS_MAX);
        assert!(conversations.known.contains_key(&key(0)) && !conversations.known.contains_key(&key(1)));
    }
}
