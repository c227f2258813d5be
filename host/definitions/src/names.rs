//! The names of tools for clients and models: at most 64 letters, digits, `_` and `-`, which every provider accepts.
//!
//! A name is mapped back to its tool with a table, never by parsing, so that no tool can be mistaken for another.

use crate::text::hex;
use portcullis_policy::ToolName;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Maximum length of a name that all providers accept, in bytes.
const PORTABLE_NAME_BYTES_MAX: usize = 64;

/// Hexadecimal digits of the digest in a shortened or colliding name: 80 bits, so that a collision cannot be made on
/// purpose.
const DIGEST_DIGITS: usize = 20;

/// Two tools would have the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} would both be named `{name}`: remove or rename one of the plugins")]
#[non_exhaustive]
pub struct NameCollision {
    /// The shared name.
    pub name: String,
    /// The first tool.
    pub first: ToolName,
    /// The second tool.
    pub second: ToolName,
}

/// A tool that needs a name.
#[derive(Clone, Debug)]
pub struct UnnamedTool {
    /// The name of the tool in the host.
    pub name: ToolName,
    /// The wanted form of its name.
    pub form: NameForm,
}

/// The form of a tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// `plugin__tool`.
    Full,
    /// `tool` alone.
    Short,
}

/// Names each tool, in the order of `tools`.
///
/// # Errors
/// Two tools would have the same name.
pub fn assign(tools: &[UnnamedTool]) -> Result<Vec<String>, NameCollision> {
    let wanted: Vec<String> = tools.iter().map(wanted).collect();
    let mut taken: BTreeMap<&str, &ToolName> = BTreeMap::new();
    for (name, tool) in wanted.iter().zip(tools) {
        if let Some(first) = taken.insert(name, &tool.name) {
            let (name, first, second) = (name.clone(), first.clone(), tool.name.clone());
            return Err(NameCollision { name, first, second });
        }
    }
    Ok(wanted)
}

/// Names each tool, in the order of `tools`. Tools that would share a short name get their full names. Tools that
/// would share a full name get a digest in their names.
pub fn assign_leniently(tools: &[UnnamedTool]) -> Vec<String> {
    let wanted: Vec<String> = tools.iter().map(wanted).collect();
    let count = occurrences(wanted.iter().map(String::as_str));
    let clear = |(tool, wanted): (&UnnamedTool, &String)| match count.get(wanted.as_str()) {
        Some(1) => wanted.clone(),
        Some(_) | None => full(&tool.name),
    };
    disambiguate(tools, tools.iter().zip(&wanted).map(clear).collect())
}

fn wanted(tool: &UnnamedTool) -> String {
    match tool.form {
        NameForm::Full => full(&tool.name),
        NameForm::Short => tool.name.tool.as_str().to_owned(),
    }
}

/// Returns `plugin__tool`, or the one name if both are the same. Shortens a name that is too long.
fn full(tool: &ToolName) -> String {
    let name = if tool.plugin.as_str() == tool.tool.as_str() {
        tool.tool.as_str().to_owned()
    } else {
        format!("{}__{}", tool.plugin, tool.tool)
    };
    if name.len() <= PORTABLE_NAME_BYTES_MAX { name } else { with_digest(&name, tool) }
}

/// Returns a name that only this tool can have: the beginning of `name`, and part of the digest of the full name.
fn with_digest(name: &str, tool: &ToolName) -> String {
    // The full name has a dot between plugin and tool, so no two tools have the same one.
    let digest = Sha256::digest(tool.to_string().as_bytes());
    let digits = hex(&digest[..DIGEST_DIGITS / 2]);
    // Names are ASCII: every byte is a boundary.
    let kept = name.len().min(PORTABLE_NAME_BYTES_MAX - DIGEST_DIGITS - 1);
    format!("{}_{digits}", &name[..kept])
}

/// Adds a digest to every shared name until all names are unique, independent of the order. If a plugin already has a
/// name that another one gets this way, it gets a digest too.
fn disambiguate(tools: &[UnnamedTool], mut names: Vec<String>) -> Vec<String> {
    loop {
        let count = occurrences(names.iter().map(String::as_str));
        let shared = |name: &String| count.get(name.as_str()).is_some_and(|count| *count > 1);
        let next: Vec<String> = names
            .iter()
            .zip(tools)
            .map(|(name, tool)| if shared(name) { with_digest(name, &tool.name) } else { name.clone() })
            .collect();
        if next == names {
            return names;
        }
        names = next;
    }
}

fn occurrences<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut count = BTreeMap::new();
    for name in names {
        *count.entry(name).or_default() += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str], form: NameForm) -> Vec<UnnamedTool> {
        let tool = |name: &&str| UnnamedTool { name: name.parse().expect("a full name"), form };
        names.iter().map(tool).collect()
    }

    fn assigned(names: &[&str], form: NameForm) -> Vec<String> {
        assign_leniently(&tools(names, form))
    }

    #[test]
    fn names_are_unique_whatever_the_tools_are_named() {
        let long = "x".repeat(64);
        let (one, two) = (format!("{long}.a"), format!("{long}.b"));
        let all = ["a.b__c", "a__b.c", "same.same", "a.b", one.as_str(), two.as_str()];
        let names = assigned(&all, NameForm::Full);
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() <= PORTABLE_NAME_BYTES_MAX), "{names:?}");
        assert_eq!(names[2..4], ["same", "a__b"]);
    }

    #[test]
    fn a_name_with_a_digest_cannot_be_taken() {
        let clear = assigned(&["a.b__c", "a__b.c"], NameForm::Full);
        let taken = format!("a.{}", clear[0].strip_prefix("a__").expect("it begins as it was"));
        let all = ["a.b__c", "a__b.c", taken.as_str()];
        let names = assigned(&all, NameForm::Full);
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len(), "{names:?}");
    }

    #[test]
    fn names_do_not_depend_on_the_order_of_tools() {
        let (mut there, back) = (["a.b__c", "a__b.c"], ["a__b.c", "a.b__c"]);
        let first = assigned(&there, NameForm::Full);
        there.reverse();
        assert_eq!(there, back);
        let mut second = assigned(&back, NameForm::Full);
        second.reverse();
        assert_eq!(first, second);
    }

    #[test]
    fn a_shared_short_name_is_given_to_neither_tool() {
        let shared = ["a.run", "b.run", "b.walk"];
        assert_eq!(assigned(&shared, NameForm::Short), ["a__run", "b__run", "walk"]);
        let refused = assign(&tools(&shared, NameForm::Short));
        assert!(matches!(refused, Err(NameCollision { name, .. }) if name == "run"));
        assert_eq!(assign(&tools(&["a.run", "b.walk"], NameForm::Short)).expect("they are clear"), ["run", "walk"]);
    }

    #[test]
    fn tools_with_the_same_full_name_are_refused() {
        let refused = assign(&tools(&["a.b__c", "a__b.c"], NameForm::Full));
        assert!(matches!(refused, Err(NameCollision { name, .. }) if name == "a__b__c"));
        assert_eq!(assign(&tools(&["a.b", "same.same"], NameForm::Full)).expect("they are clear"), ["a__b", "same"]);
    }

    #[test]
    fn a_full_name_is_kept_beside_short_ones() {
        let all = |names: [&str; 2]| -> Vec<UnnamedTool> {
            let [short, full] = names;
            tools(&[short], NameForm::Short).into_iter().chain(tools(&[full], NameForm::Full)).collect()
        };
        let clear = all(["files.read", "output.read"]);
        assert_eq!(assign(&clear).expect("they are clear"), ["read", "output__read"]);
        let taken = all(["files.output__read", "output.read"]);
        assert!(assign(&taken).is_err());
        assert_eq!(assign_leniently(&taken), ["files__output__read", "output__read"]);
    }
}
