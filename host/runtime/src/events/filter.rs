//! What a subscriber wants to receive.

use super::event::Event;
use crate::outputs::session_name;
use portcullis_policy::Principal;

/// Which events a subscriber receives, and whether they carry arguments and results. A new filter passes the events of
/// all calls, without them.
///
/// ```no_run
/// use portcullis::events::EventFilter;
///
/// # async fn example(host: &portcullis::Host) {
/// let mut events = host.events_with(EventFilter::new().session("chat-7").with_payloads());
/// while let Some(event) = events.next().await {
///     if let Some(result) = &event.result {
///         println!("{}: {}", event.tool, portcullis::text::Lines(&result.text));
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// The session, as events name it.
    session: Option<String>,
    principal: Option<String>,
    payloads: PayloadDelivery,
}

/// Whether the events of a subscriber carry arguments and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PayloadDelivery {
    #[default]
    Omit,
    Carry,
}

impl EventFilter {
    /// Creates a filter that passes the events of all calls, without arguments and results.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes only the events of calls of this session: its name, or how [`Event::session`] names it.
    #[must_use]
    pub fn session(mut self, session: &str) -> Self {
        self.session = Some(session_name(session));
        self
    }

    /// Passes only the events of calls on behalf of this principal and of those under it, such as the tools that it
    /// calls.
    #[must_use]
    pub fn principal(mut self, principal: &Principal) -> Self {
        self.principal = Some(principal.to_string());
        self
    }

    /// Adds the arguments and results of calls to their events ([`Event::arguments`], [`Event::result`]). Subscribe
    /// only for someone who may see them.
    #[must_use]
    pub fn with_payloads(mut self) -> Self {
        self.payloads = PayloadDelivery::Carry;
        self
    }

    pub(super) fn has_payloads(&self) -> bool {
        self.payloads == PayloadDelivery::Carry
    }

    pub(super) fn passes(&self, event: &Event) -> bool {
        self.session.as_ref().is_none_or(|session| **session == *event.session)
            && self.principal.as_ref().is_none_or(|principal| is_under(&event.principal, principal))
    }
}

/// Returns whether a principal is another one, or is under it.
fn is_under(principal: &str, above: &str) -> bool {
    principal.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::is_under;

    #[test]
    fn a_principal_covers_itself_and_those_under_it() {
        assert!(is_under("ada", "ada") && is_under("ada/notes", "ada"));
        assert!(!is_under("adam", "ada") && !is_under("ada", "ada/notes"));
    }
}
