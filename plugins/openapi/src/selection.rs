//! Which operations become tools: the settings `tags`, `paths`, `operations` and `methods`.

use portcullis_sdk::prelude::*;

/// The settings that select operations.
const SETTINGS: [SelectionSetting; 4] =
    [SelectionSetting::Tags, SelectionSetting::Paths, SelectionSetting::Operations, SelectionSetting::Methods];

/// A setting that selects operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelectionSetting {
    Tags,
    Paths,
    Operations,
    Methods,
}

/// What an operation is selected by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) id: Option<&'a str>,
    pub(crate) tags: &'a [&'a str],
}

/// A list of patterns in one setting.
#[derive(Debug, Clone)]
struct Patterns {
    setting: SelectionSetting,
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    /// Whether an operation matched it.
    is_used: bool,
}

/// The selected operations. Without patterns, all are selected.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    lists: Vec<Patterns>,
}

impl SelectionSetting {
    fn name(self) -> &'static str {
        match self {
            Self::Tags => "tags",
            Self::Paths => "paths",
            Self::Operations => "operations",
            Self::Methods => "methods",
        }
    }

    fn matches(self, pattern: &str, candidate: Candidate<'_>) -> bool {
        match self {
            Self::Tags => candidate.tags.iter().any(|tag| is_match(pattern, tag)),
            Self::Paths => is_match(pattern, candidate.path),
            Self::Operations => candidate.id.is_some_and(|id| is_match(pattern, id)),
            Self::Methods => pattern.eq_ignore_ascii_case(candidate.method),
        }
    }
}

impl Selection {
    /// Reads the settings. Each is a list with commas.
    pub(crate) fn read(context: &Context) -> Self {
        let lists = SETTINGS.into_iter().filter_map(|setting| {
            let text = context.setting(setting.name())?;
            let patterns = text.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
            let patterns = patterns.map(|pattern| Pattern { text: pattern.to_owned(), is_used: false }).collect();
            Some(Patterns { setting, patterns })
        });
        Self { lists: lists.collect() }
    }

    /// Returns whether each setting has a pattern for the operation, and notes which patterns have matched.
    pub(crate) fn select(&mut self, candidate: Candidate<'_>) -> bool {
        let mut is_selected = true;
        // Look at all settings, also after one that refuses the operation: each match marks its pattern as used.
        for Patterns { setting, patterns } in &mut self.lists {
            let mut is_listed = false;
            for pattern in patterns.iter_mut().filter(|pattern| setting.matches(&pattern.text, candidate)) {
                pattern.is_used = true;
                is_listed = true;
            }
            is_selected &= is_listed;
        }
        is_selected
    }

    /// Fails if a pattern matched no operation: it is most likely misspelled.
    pub(crate) fn check(&self) -> Result<(), String> {
        for Patterns { setting, patterns } in &self.lists {
            if let Some(pattern) = patterns.iter().find(|pattern| !pattern.is_used) {
                return Err(format!(
                    "the setting `{}` names {:?}, which no operation has",
                    setting.name(),
                    pattern.text
                ));
            }
        }
        Ok(())
    }
}

/// Returns whether a text matches a pattern, in which `*` matches any characters.
fn is_match(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            // The first place of a part leaves the most text for the others, so no other place needs to be tried.
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("/pets", "/pets", true),
            ("/pets", "/pets/1", false),
            ("/pets*", "/pets/1", true),
            ("*", "", true),
            ("*/get", "pets/get", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c", false),
            ("ab*ba", "aba", false),
            ("**a**", "bab", true),
        ] {
            assert_eq!(is_match(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn each_setting_must_match_and_an_unused_pattern_is_an_error() {
        let pattern = |text: &str| Pattern { text: text.to_owned(), is_used: false };
        let list =
            |setting, texts: &[&str]| Patterns { setting, patterns: texts.iter().map(|text| pattern(text)).collect() };
        let mut selection = Selection {
            lists: vec![list(SelectionSetting::Tags, &["pets"]), list(SelectionSetting::Methods, &["get", "head"])],
        };
        let candidate = Candidate { method: "GET", path: "/pets", id: None, tags: &["pets"] };
        assert!(selection.select(candidate));
        assert!(!selection.select(Candidate { method: "POST", ..candidate }));
        assert!(!selection.select(Candidate { tags: &[], ..candidate }));
        assert_eq!(selection.check().unwrap_err(), "the setting `methods` names \"head\", which no operation has");
        assert!(Selection::default().select(candidate));
    }
}
