//! Callers: a session, a principal, and whether a person started the session.
//!
//! A principal is a path: `alice/researcher` is a sub-agent of `alice` and never has more rights than she has. This
//! file must not know rules, or how the host identifies the caller.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::excerpt::Excerpt;

/// Maximum names in a principal. No user keeps track of sub-agents more than eight levels deep, and each level costs a
/// decision.
pub const PRINCIPAL_NAMES: usize = 8;
/// Maximum bytes of a name in a principal, as for a plugin. An approval request shows the whole name.
pub const PRINCIPAL_NAME_BYTES: usize = 64;

/// The identity that a call is made for: a name, or the path from a name to one of its sub-agents. A clone copies a
/// pointer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(Arc<str>);

/// The error for a text that is not a principal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not a principal")]
pub struct PrincipalError {
    shown: Excerpt,
}

impl PrincipalError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "write one to eight names with `/` between them; a name has one to 64 ASCII letters, digits, `.`, `_`, `@` \
         and `-`, and is neither `.` nor `..`"
    }

    fn of(text: &str) -> Self {
        Self { shown: Excerpt::of(text) }
    }
}

/// Returns whether `text` is a valid name in a principal.
fn is_name(text: &str) -> bool {
    (1..=PRINCIPAL_NAME_BYTES).contains(&text.len())
        // A rule that restricts matches the normalized path, in which such a segment would lead to another principal.
        && !matches!(text, "." | "..")
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte))
}

impl Principal {
    /// Returns the whole path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the parent of a sub-agent, or none for a root principal.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(Arc::from(parent)))
    }

    /// Returns the root principal: the first name of the path.
    ///
    /// ```
    /// use portcullis_policy::Principal;
    ///
    /// let agent: Principal = "alice/researcher".parse()?;
    /// assert_eq!(agent.root().as_str(), "alice");
    /// # Ok::<(), portcullis_policy::PrincipalError>(())
    /// ```
    #[must_use]
    pub fn root(&self) -> Self {
        match self.0.split_once('/') {
            Some((root, _)) => Self(Arc::from(root)),
            None => self.clone(),
        }
    }

    /// Returns the sub-agent `name` of this principal.
    ///
    /// # Errors
    ///
    /// The name is invalid, or the path would have more than [`PRINCIPAL_NAMES`] names.
    pub fn attenuated(&self, name: &str) -> Result<Self, PrincipalError> {
        // The name is checked alone, because one with a slash would go several levels down.
        if is_name(name) { format!("{self}/{name}").parse() } else { Err(PrincipalError::of(name)) }
    }

    /// Returns the path of each principal from the root to this one, inclusive.
    pub fn lineage(&self) -> impl Iterator<Item = &str> {
        let slashes = self.0.match_indices('/').map(|(end, _)| end);
        slashes.chain([self.0.len()]).filter_map(|end| self.0.get(..end))
    }
}

impl Default for Principal {
    /// Returns `local`: the user of this machine.
    fn default() -> Self {
        Self(Arc::from("local"))
    }
}

impl FromStr for Principal {
    type Err = PrincipalError;

    fn from_str(text: &str) -> Result<Self, PrincipalError> {
        let sound = text.split('/').all(is_name) && text.split('/').count() <= PRINCIPAL_NAMES;
        if sound { Ok(Self(Arc::from(text))) } else { Err(PrincipalError::of(text)) }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl Serialize for Principal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What started a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A person's session.
    Person,
    /// An agent that another principal started.
    SubAgent,
    /// A schedule or a program, without a person.
    Automation,
}

impl Origin {
    /// Every origin, in display order.
    pub const ALL: [Self; 3] = [Self::Person, Self::SubAgent, Self::Automation];

    /// Returns the word that policies and the audit log use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::SubAgent => "sub-agent",
            Self::Automation => "automation",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The error for a word that is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown} is not an origin")]
pub struct OriginError {
    shown: Excerpt,
}

impl OriginError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> &'static str {
        "write one of `person`, `sub-agent`, `automation`"
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let named = Self::ALL.into_iter().find(|origin| origin.as_str() == text);
        named.ok_or_else(|| OriginError { shown: Excerpt::of(text) })
    }
}

/// The caller of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The name of the session.
    pub session: &'a str,
    /// The principal.
    pub principal: &'a Principal,
    /// Whether a schedule or a program started the session instead of a person.
    pub automated: bool,
}

impl<'a> Caller<'a> {
    /// Returns the origin of the call.
    pub fn origin(&self) -> Origin {
        if self.principal.as_str().contains('/') { Origin::SubAgent } else { self.root_origin() }
    }

    fn root_origin(&self) -> Origin {
        if self.automated { Origin::Automation } else { Origin::Person }
    }

    /// Returns every principal from the root to the caller. The policy must allow the call for each of them.
    pub(crate) fn members(self) -> impl Iterator<Item = Member<'a>> {
        let origins = std::iter::once(self.root_origin()).chain(std::iter::repeat(Origin::SubAgent));
        let session = self.session;
        self.principal.lineage().zip(origins).map(move |(principal, origin)| Member { session, principal, origin })
    }
}

/// One principal of a caller's lineage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub(crate) session: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) origin: Origin,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(text: &str) -> Principal {
        text.parse().unwrap()
    }

    #[test]
    fn a_principal_is_one_to_eight_valid_names() {
        let eight = ["a"; 8].join("/");
        let nine = ["a"; 9].join("/");
        let (fits, long) = ("a".repeat(64), "a".repeat(65));
        for text in ["alice", "Alice", "a.b_c@d-e", "alice/researcher", "...", "0", &eight, &fits] {
            assert_eq!(principal(text).as_str(), text);
            assert_eq!(format!("{:?}", principal(text)), format!("{text:?}"));
            assert_eq!(serde_json::to_value(principal(text)).unwrap(), text);
        }
        for text in ["", "/", "a/", "/a", "a//b", ".", "..", "a/..", "a/./b", "a b", "é", "a\n", "a*", &nine, &long] {
            let error = text.parse::<Principal>().unwrap_err();
            assert!(error.remedy().contains("one to eight names"), "{text:?}");
        }
    }

    #[test]
    fn a_sub_agent_is_one_name_below_its_parent() {
        let child = principal("alice").attenuated("researcher").unwrap();
        assert_eq!(child.to_string(), "alice/researcher");
        assert_eq!(child.parent(), Some(principal("alice")));
        assert_eq!(principal("alice").parent(), None);
        for name in ["", "..", "a/b", "a b"] {
            assert!(principal("alice").attenuated(name).is_err(), "{name:?}");
        }
        assert!(principal(&["a"; 8].join("/")).attenuated("b").is_err());
    }

    #[test]
    fn the_lineage_goes_from_the_root_to_the_principal_itself() {
        assert_eq!(principal("a").lineage().collect::<Vec<_>>(), ["a"]);
        assert_eq!(principal("a/bc/d").lineage().collect::<Vec<_>>(), ["a", "a/bc", "a/bc/d"]);
    }

    #[test]
    fn only_the_root_of_a_call_has_its_own_origin() {
        let rows = [
            ("a", false, vec![Origin::Person]),
            ("a", true, vec![Origin::Automation]),
            ("a/b", false, vec![Origin::Person, Origin::SubAgent]),
            ("a/b/c", true, vec![Origin::Automation, Origin::SubAgent, Origin::SubAgent]),
        ];
        for (path, automated, origins) in rows {
            let principal = principal(path);
            let caller = Caller { session: "s", principal: &principal, automated };
            assert_eq!(Some(&caller.origin()), origins.last(), "{path}");
            assert_eq!(caller.members().map(|member| member.origin).collect::<Vec<_>>(), origins, "{path}");
        }
    }

    #[test]
    fn only_the_three_words_are_origins() {
        for origin in Origin::ALL {
            assert_eq!(origin.to_string().parse(), Ok(origin));
            assert_eq!(serde_json::to_value(origin).unwrap(), origin.as_str());
        }
        for text in ["", "Person", "subagent", "sub_agent", "cron"] {
            assert!(text.parse::<Origin>().unwrap_err().remedy().contains("`automation`"), "{text:?}");
        }
    }
}
