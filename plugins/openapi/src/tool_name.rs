//! Names of tools: valid for the host, and unique.

use std::collections::BTreeSet;

/// Maximum bytes of a name in the host.
const NAME_BYTES_MAX: usize = 64;

/// The names that are taken.
#[derive(Debug)]
pub(crate) struct ToolNames {
    taken: BTreeSet<String>,
}

impl ToolNames {
    /// Creates the set, with the names of the manifest.
    pub(crate) fn new(reserved: &[&str]) -> Self {
        Self { taken: reserved.iter().map(|&name| name.to_owned()).collect() }
    }

    /// Makes a name from a text. A name that is taken gets the first free number as its suffix.
    pub(crate) fn take(&mut self, text: &str) -> String {
        let name = valid(text);
        let mut unique = name.clone();
        let mut number = 2_usize;
        while !self.taken.insert(unique.clone()) {
            let suffix = format!("_{number}");
            // A valid name is ASCII, so each index is the boundary of a character.
            let stem = name.get(..name.len().min(NAME_BYTES_MAX - suffix.len())).unwrap_or(&name);
            unique = format!("{stem}{suffix}");
            number += 1;
        }
        unique
    }
}

/// Returns a valid name: lower case, with an underscore for other characters and between words in camel case.
fn valid(text: &str) -> String {
    let mut name = String::new();
    let mut follows_lower_case = false;
    for character in text.chars() {
        if character.is_ascii_uppercase() && follows_lower_case {
            name.push('_');
        }
        follows_lower_case = character.is_ascii_lowercase() || character.is_ascii_digit();
        match character.to_ascii_lowercase() {
            kept @ ('a'..='z' | '0'..='9' | '-') => name.push(kept),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    let trimmed = name.trim_matches(|character| character == '_' || character == '-');
    let mut name = if trimmed.starts_with(|first: char| first.is_ascii_lowercase()) {
        trimmed.to_owned()
    } else {
        format!("op_{trimmed}")
    };
    name.truncate(NAME_BYTES_MAX);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_unique() {
        let mut names = ToolNames::new(&["operations"]);
        assert_eq!(names.take("listPets"), "list_pets");
        assert_eq!(names.take("list.pets"), "list_pets_2");
        assert_eq!(names.take("operations"), "operations_2");
        assert_eq!(names.take("GET /v1/{id}"), "get_v1_id");
        assert_eq!(names.take("2fa"), "op_2fa");
        assert_eq!(names.take("日本"), "op_");
        let long = "a".repeat(80);
        assert_eq!((names.take(&long).len(), names.take(&long).len()), (64, 64));
    }
}
