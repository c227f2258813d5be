//! Removes the host's secrets from what a guest writes in pieces.

use super::call::NetworkCall;
use super::redact_stream::StreamRedactor;
use std::borrow::Cow;
use std::sync::Arc;

/// A redactor for a text that is written while further secrets may be opened.
pub(crate) struct OutgoingRedactor {
    call: Arc<NetworkCall>,
    redactor: StreamRedactor,
}

impl OutgoingRedactor {
    pub(crate) fn new(call: Arc<NetworkCall>) -> Self {
        Self { call, redactor: StreamRedactor::default() }
    }

    /// Returns the part of the text that can be passed on after `bytes`.
    pub(crate) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.redactor.look_for(self.call.outgoing());
        let mut found = 0;
        let pushed = self.redactor.push(bytes, &mut found);
        self.call.count_redactions(found);
        pushed
    }

    /// Returns the held-back rest at the end of the text.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.redactor.look_for(self.call.outgoing());
        let mut found = 0;
        let rest = self.redactor.finish(&mut found);
        self.call.count_redactions(found);
        rest
    }
}
