//! What a guest writes piece by piece, without the secrets of its call.

use super::call::Call;
use super::redact::StreamRedactor;
use std::borrow::Cow;
use std::sync::Arc;

/// Takes the secrets of a call out of a text that is written while more of them may be sent.
pub(crate) struct OutgoingRedactor {
    call: Arc<Call>,
    /// One for each secret, in the order in which they were sent first.
    redactors: Vec<StreamRedactor>,
}

impl OutgoingRedactor {
    pub(crate) fn new(call: Arc<Call>) -> Self {
        Self { call, redactors: Vec::new() }
    }

    /// What of the text is certain after `bytes`.
    pub(crate) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        // What was written before a secret was first sent cannot have it from there.
        let unknown = self.call.watched().into_iter().skip(self.redactors.len());
        self.redactors.extend(unknown.map(StreamRedactor::new));
        let mut found = 0;
        let pushed = self
            .redactors
            .iter_mut()
            .fold(Cow::Borrowed(bytes), |piece, redactor| Cow::Owned(redactor.push(&piece, &mut found)));
        self.call.count_redactions(found);
        pushed
    }

    /// What was held back, once nothing more comes.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut found = 0;
        let rest = self.redactors.iter_mut().fold(Vec::new(), |rest, redactor| {
            let mut whole = redactor.push(&rest, &mut found);
            whole.extend(redactor.finish(&mut found));
            whole
        });
        self.call.count_redactions(found);
        rest
    }
}
