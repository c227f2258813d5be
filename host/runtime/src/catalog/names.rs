//! The names that clients and models know tools by: of letters, digits, `_` and `-`, at most 64 of them, as every
//! provider takes them.
//!
//! The map is a table and is never computed backwards, so that no two tools can be taken for each other.

use super::offer::Offer;
use portcullis_policy::ToolName;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The longest name that all providers take, in bytes.
const PORTABLE_NAME_BYTES_MAX: usize = 64;

/// What tells a shortened or colliding name from others, in hexadecimal digits: 80 bits, which nobody meets on purpose.
const DIGEST_DIGITS: usize = 20;

/// How tools are named to clients and models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolNames {
    /// `plugin__tool`: letters, digits, `_` and `-`, which every provider takes.
    #[default]
    Full,
    /// `tool` alone, but for the host's own tools.
    Short,
}

/// Two tools would have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} would both be called `{name}`: take one plugin away, or give it another name")]
#[non_exhaustive]
pub struct NameCollision {
    /// The name.
    pub name: String,
    /// The tool that has it.
    pub first: ToolName,
    /// The other that would.
    pub second: ToolName,
}

/// A tool to be named.
#[derive(Clone, Debug)]
struct Nameless {
    name: ToolName,
    /// Whether it is one of the host's own, which are called by their full names: no plugin can be in their way.
    standard: bool,
}

impl ToolNames {
    /// Names each tool, in the order of `offers`.
    ///
    /// # Errors
    /// Two of them would have one name.
    pub fn assign(self, offers: &[Offer]) -> Result<Vec<String>, NameCollision> {
        assign(&nameless(offers), self)
    }

    /// Names each tool, in the order of `offers`. Of two that share a short name each gets its full one, and of two
    /// that share that each gets one with a digest.
    pub fn assign_leniently(self, offers: &[Offer]) -> Vec<String> {
        assign_leniently(&nameless(offers), self)
    }
}

fn nameless(offers: &[Offer]) -> Vec<Nameless> {
    let nameless = |offer: &Offer| Nameless { name: offer.tool.name().clone(), standard: offer.plugin.is_standard() };
    offers.iter().map(nameless).collect()
}

fn assign(tools: &[Nameless], names: ToolNames) -> Result<Vec<String>, NameCollision> {
    let wanted: Vec<String> = match names {
        ToolNames::Full => tools.iter().map(|tool| full(&tool.name)).collect(),
        ToolNames::Short => tools.iter().map(short).collect(),
    };
    let mut taken: BTreeMap<&str, &ToolName> = BTreeMap::new();
    for (name, tool) in wanted.iter().zip(tools) {
        if let Some(first) = taken.insert(name, &tool.name) {
            let (name, first, second) = (name.clone(), first.clone(), tool.name.clone());
            return Err(NameCollision { name, first, second });
        }
    }
    Ok(wanted)
}

fn assign_leniently(tools: &[Nameless], names: ToolNames) -> Vec<String> {
    let wanted: Vec<String> = match names {
        ToolNames::Full => tools.iter().map(|tool| full(&tool.name)).collect(),
        ToolNames::Short => {
            let short: Vec<String> = tools.iter().map(short).collect();
            let count = occurrences(short.iter().map(String::as_str));
            let clear = |(tool, short): (&Nameless, &String)| match count.get(short.as_str()) {
                Some(1) => short.clone(),
                Some(_) | None => full(&tool.name),
            };
            tools.iter().zip(&short).map(clear).collect()
        }
    };
    disambiguate(tools, wanted)
}

fn short(tool: &Nameless) -> String {
    if tool.standard { full(&tool.name) } else { tool.name.tool.as_str().to_owned() }
}

/// `plugin__tool`, or one name where both are the same, shortened where it is too long.
fn full(tool: &ToolName) -> String {
    let name = if tool.plugin.as_str() == tool.tool.as_str() {
        tool.tool.as_str().to_owned()
    } else {
        format!("{}__{}", tool.plugin, tool.tool)
    };
    if name.len() <= PORTABLE_NAME_BYTES_MAX { name } else { with_digest(&name, tool) }
}

/// A name that only this tool can have: its beginning, and a part of the digest of its full name.
fn with_digest(name: &str, tool: &ToolName) -> String {
    let digest = Sha256::digest(tool.to_string().as_bytes());
    let digits: String = digest.iter().take(DIGEST_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    // Names are ASCII: every byte is a boundary.
    let kept = name.len().min(PORTABLE_NAME_BYTES_MAX - DIGEST_DIGITS - 1);
    format!("{}_{digits}", &name[..kept])
}

/// Gives every tool whose name another has too one with a digest, until none has. Which of them came first plays no
/// part. A plugin can take the name that another gets so; then it gets a digest of its own, and loses nothing but that.
fn disambiguate(tools: &[Nameless], mut names: Vec<String>) -> Vec<String> {
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

    fn tools(names: &[&str]) -> Vec<Nameless> {
        let tool =
            |name: &&str| Nameless { name: name.parse().expect("a full name"), standard: name.starts_with("output.") };
        names.iter().map(tool).collect()
    }

    fn assigned(names: &[&str], how: ToolNames) -> Vec<String> {
        assign_leniently(&tools(names), how)
    }

    #[test]
    fn no_two_tools_have_one_name_whatever_they_are_called() {
        let long = "x".repeat(64);
        let (one, two) = (format!("{long}.a"), format!("{long}.b"));
        let all = ["a.b__c", "a__b.c", "same.same", "a.b", one.as_str(), two.as_str()];
        let names = assigned(&all, ToolNames::Full);
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() <= PORTABLE_NAME_BYTES_MAX), "{names:?}");
        assert_eq!(names[2..4], ["same", "a__b"]);
    }

    #[test]
    fn a_name_that_was_made_clear_cannot_be_taken() {
        let clear = assigned(&["a.b__c", "a__b.c"], ToolNames::Full);
        let taken = format!("a.{}", clear[0].strip_prefix("a__").expect("it begins as it was"));
        let all = ["a.b__c", "a__b.c", taken.as_str()];
        let names = assigned(&all, ToolNames::Full);
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len(), "{names:?}");
    }

    #[test]
    fn which_tool_came_first_plays_no_part_in_its_name() {
        let (mut there, back) = (["a.b__c", "a__b.c"], ["a__b.c", "a.b__c"]);
        let first = assigned(&there, ToolNames::Full);
        there.reverse();
        assert_eq!(there, back);
        let mut second = assigned(&back, ToolNames::Full);
        second.reverse();
        assert_eq!(first, second);
    }

    #[test]
    fn a_short_name_that_two_tools_share_is_neither_tools() {
        let shared = ["a.run", "b.run", "b.walk"];
        assert_eq!(assigned(&shared, ToolNames::Short), ["a__run", "b__run", "walk"]);
        let refused = assign(&tools(&shared), ToolNames::Short);
        assert!(matches!(refused, Err(NameCollision { name, .. }) if name == "run"));
        assert_eq!(assign(&tools(&["a.run", "b.walk"]), ToolNames::Short).expect("they are clear"), ["run", "walk"]);
    }

    #[test]
    fn tools_that_would_have_one_full_name_are_refused() {
        let refused = assign(&tools(&["a.b__c", "a__b.c"]), ToolNames::Full);
        assert!(matches!(refused, Err(NameCollision { name, .. }) if name == "a__b__c"));
        assert_eq!(assign(&tools(&["a.b", "same.same"]), ToolNames::Full).expect("they are clear"), ["a__b", "same"]);
    }

    #[test]
    fn no_plugin_is_in_the_way_of_the_hosts_own_tools() {
        let all = tools(&["files.read", "output.read"]);
        assert_eq!(assign(&all, ToolNames::Short).expect("they are clear"), ["read", "output__read"]);
        let taken = tools(&["files.output__read", "output.read"]);
        assert!(assign(&taken, ToolNames::Short).is_err());
        assert_eq!(assign_leniently(&taken, ToolNames::Short), ["files__output__read", "output__read"]);
    }
}
