//! Tags of what one instance of a session sends: ids of its requests, and ids of its events.
//!
//! Hosts that share their sessions each have an instance of a session, and each instance counts its requests from zero.
//! The tag names the host and the instance. So an answer reaches the request that it is for, and never another one.

use std::fmt::{self, Display};
use std::sync::Arc;

/// Length of a host's name, in hexadecimal digits.
const NAME_DIGITS: usize = 16;

/// The name of a host among those that share its sessions: 64 random bits, anew for each process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostName(Arc<str>);

/// The tag of one instance of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstanceTag {
    host: HostName,
    number: u64,
}

/// A text with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaggedText<'t> {
    pub(crate) tag: InstanceTag,
    /// The text without the tag.
    pub(crate) rest: &'t str,
}

impl HostName {
    /// Returns a new name.
    ///
    /// # Errors
    /// The system's random number generator fails.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; NAME_DIGITS / 2];
        getrandom::fill(&mut bytes)?;
        Ok(Self(data_encoding::HEXLOWER.encode(&bytes).into()))
    }

    fn parse(text: &str) -> Option<Self> {
        let is_name = text.len() == NAME_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_name.then(|| Self(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl InstanceTag {
    /// Returns the tag of an instance on a host. No two instances of a host have the same number.
    pub(crate) fn new(host: HostName, number: u64) -> Self {
        Self { host, number }
    }

    pub(crate) fn host(&self) -> &HostName {
        &self.host
    }

    /// Returns a text with this tag.
    pub(crate) fn on(&self, text: impl Display) -> String {
        format!("{self}.{text}")
    }
}

impl Display for InstanceTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.host.as_str(), self.number)
    }
}

impl<'t> TaggedText<'t> {
    /// Parses a text that some instance tagged. A client can also send one that none did.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (host, rest) = text.split_once('.')?;
        let (number, rest) = rest.split_once('.')?;
        let tag = InstanceTag::new(HostName::parse(host)?, number.parse().ok()?);
        // Only the spelling that an instance sends counts.
        text.strip_suffix(rest).is_some_and(|tagged| tagged == format!("{tag}.")).then_some(Self { tag, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_back_and_nothing_else_is_a_tag() {
        let tag = InstanceTag::new(HostName::random().unwrap(), 7);
        for rest in ["0", "3/12", "", "a.b"] {
            assert_eq!(TaggedText::parse(&tag.on(rest)), Some(TaggedText { tag: tag.clone(), rest }));
        }
        let name = tag.host().as_str();
        for text in ["", "0", "0/5", name, &format!("{name}.1"), &format!("{name}.+1.0"), &format!("{name}.01.0")] {
            assert_eq!(TaggedText::parse(text), None, "{text}");
        }
        for name in ["0123", "0123456789abcdeF", "0123456789abcdefa", "0123456789abcde\u{e9}"] {
            assert_eq!(TaggedText::parse(&format!("{name}.1.0")), None, "{name}");
        }
    }
}
