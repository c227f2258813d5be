//! The callers that a rule applies to: sessions, principals and origins.
//!
//! As with arguments, a rule that widens matches names exactly, and a rule that restricts ignores their case. This file
//! must not know decisions.

use std::fmt;

use crate::caller::{Member, Origin};
use crate::matcher::RuleReading;
use crate::text::{Spellings, TextPattern};

/// The callers that a rule applies to. A missing field matches every caller.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RuleSubject {
    pub(crate) session: Option<TextPattern>,
    pub(crate) principals: Option<Vec<TextPattern>>,
    pub(crate) origins: Option<Vec<Origin>>,
}

impl RuleSubject {
    /// Returns whether the rule applies to calls on behalf of `member`.
    pub(crate) fn matches(&self, member: &Member<'_>, reading: RuleReading) -> bool {
        self.origins.as_ref().is_none_or(|origins| origins.contains(&member.origin))
            && self.session.as_ref().is_none_or(|session| matches(session, member.session, reading))
            && self.principals.as_ref().is_none_or(|principals| {
                principals.iter().any(|principal| matches(principal, member.principal, reading))
            })
    }

    /// Returns the sessions, as the policy spells them.
    pub(crate) fn session_text(&self) -> Option<String> {
        self.session.as_ref().map(|session| session.as_str().to_owned())
    }

    /// Returns the principals, as the policy spells them.
    pub(crate) fn principal_text(&self) -> Option<String> {
        self.principals.as_ref().map(|principals| list(principals.iter().map(TextPattern::as_str)))
    }

    /// Returns the origins.
    pub(crate) fn origin_text(&self) -> Option<String> {
        self.origins.as_ref().map(|origins| list(origins.iter().map(|origin| origin.as_str())))
    }
}

fn matches(pattern: &TextPattern, name: &str, reading: RuleReading) -> bool {
    match reading {
        RuleReading::Exact => pattern.matches_exactly(name),
        RuleReading::Wide => pattern.matches_widely(&Spellings::of(name)),
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for RuleSubject {
    /// Writes the keys and values of the policy, or "everyone" if there are none.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named =
            [("session", self.session_text()), ("principal", self.principal_text()), ("origin", self.origin_text())];
        let named = named.into_iter().filter_map(|(key, text)| Some(format!("{key} {}", text?.escape_debug())));
        let named: Vec<String> = named.collect();
        formatter.write_str(if named.is_empty() { "everyone" } else { "" })?;
        formatter.write_str(&named.join(", "))
    }
}
