//! The keys `session`, `principal` and `origin` of a rule.
//!
//! This file must not know the other keys of a rule.

use super::faults::Misplaced;
use super::node::{TomlNode, TomlTable};
use crate::caller::{Origin, Principal};
use crate::error::PolicyFault;
use crate::excerpt::Excerpt;
use crate::glob::GlobError;
use crate::subject::RuleSubject;
use crate::text::TextPattern;

/// Parses the callers that a rule applies to.
pub(super) fn read(section: &TomlTable<'_, '_>) -> RuleSubject {
    RuleSubject {
        session: section.read("session", read_session),
        principals: section.read("principal", read_principals),
        origins: section.read("origin", |node| read_all(node, read_origin)),
    }
}

/// Parses one or more patterns for principals.
pub(super) fn read_principals(node: &TomlNode<'_>) -> Result<Vec<TextPattern>, Misplaced> {
    read_all(node, read_principal)
}

fn read_all<T>(
    node: &TomlNode<'_>,
    read_one: impl Fn(&TomlNode<'_>) -> Result<T, Misplaced>,
) -> Result<Vec<T>, Misplaced> {
    Ok(node.each(&node.one_or_more()?, read_one))
}

fn read_session(node: &TomlNode<'_>) -> Result<TextPattern, Misplaced> {
    let pattern = TextPattern::new(node.text()?).map_err(|fault| node.fail(fault))?;
    // Exact matching never matches such a name, and wide matching removes such a segment first.
    if pattern.has_segment(".") || pattern.has_segment("..") {
        return Err(node.fail(PolicyFault::DotName));
    }
    Ok(pattern)
}

/// Parses a pattern that some principal may match. Text without wildcards must be a valid principal.
fn read_principal(node: &TomlNode<'_>) -> Result<TextPattern, Misplaced> {
    let text = node.text()?;
    let is_pattern = text.contains(['*', '?', '[', ']', '{', '}', '\\']);
    if is_pattern {
        // A pattern with a character that no name has would never match, and a deny rule with it would protect nothing.
        let foreign = |character: char| !character.is_ascii_alphanumeric() && !"._@-/*?[]{},!".contains(character);
        if text.contains(foreign) || text.starts_with('/') || text.ends_with('/') || text.contains("//") {
            return Err(node.fail(PolicyFault::PrincipalPattern { shown: Excerpt::of(text).to_string() }));
        }
    } else {
        text.parse::<Principal>().map_err(|fault| node.fail(fault))?;
    }
    let pattern = TextPattern::new(text).map_err(|fault: GlobError| node.fail(fault))?;
    if pattern.has_segment(".") || pattern.has_segment("..") {
        return Err(node.fail(PolicyFault::DotName));
    }
    Ok(pattern)
}

fn read_origin(node: &TomlNode<'_>) -> Result<Origin, Misplaced> {
    node.text()?.parse().map_err(|fault| node.fail(fault))
}
