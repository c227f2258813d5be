//! The arguments and results that events carry for subscribers that ask for them.

use crate::text::cut;
use portcullis_sandbox::Network;

/// Maximum length of the text of a payload, in bytes: what a person reads of one call. The audit log and the kept
/// outputs have more.
pub const EVENT_PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// The arguments or the result of a call, without the secrets that the host has opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventPayload {
    /// The text, at most [`EVENT_PAYLOAD_BYTES_MAX`] bytes of it. Empty if the subscriber has not read the payloads
    /// before it. Untrusted text.
    pub text: String,
    /// The size of the whole text, in bytes.
    pub bytes: usize,
    /// The reference of the kept output, if the result was too large for the reply ([`crate::Host::outputs`]).
    pub reference: Option<String>,
}

impl EventPayload {
    /// Creates a payload. Removes the secrets before the cut, because a part of a secret would not be found.
    pub(crate) fn new(network: &Network, text: &str, reference: Option<&str>) -> Self {
        let whole = network.redact(text.to_owned());
        let text = cut(&whole, EVENT_PAYLOAD_BYTES_MAX).to_owned();
        Self { text, bytes: whole.len(), reference: reference.map(str::to_owned) }
    }

    /// Returns whether the text is not the whole text.
    pub fn is_cut(&self) -> bool {
        self.text.len() < self.bytes
    }

    /// Returns the payload without its text.
    pub(super) fn without_text(&self) -> Self {
        Self { text: String::new(), ..self.clone() }
    }
}
