//! From replies to the messages in which a provider takes what became of its calls.

use crate::hydrate::Hydrated;
use portcullis::Reply;
use serde_json::Value;

impl Hydrated {
    /// The messages to add to the conversation, for the replies to these calls in their order. How many there are depends
    /// on the provider: some take all results in one.
    pub fn results(&self, replies: &[Reply]) -> Vec<Value> {
        self.calls.iter().zip(replies).map(|(_, reply)| Value::String(reply.message.clone())).collect()
    }
}
