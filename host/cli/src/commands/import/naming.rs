//! Names that a policy accepts, from names that an agent accepts.

use portcullis::policy::{DependencyKey, PluginName};
use std::collections::BTreeSet;

/// Maximum bytes of a name that is made. A policy accepts 64; the rest is room for a number.
const MADE_BYTES_MAX: usize = 56;

/// Returns the name of a server that is none of those taken.
pub(super) fn server_name(written: &str, is_taken: impl Fn(&PluginName) -> bool) -> Option<PluginName> {
    let base = sound(written, "server");
    let numbered = (2..100).map(|number| format!("{base}-{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered).filter_map(|name| PluginName::new(&name).ok());
    names.find(|name| !is_taken(name))
}

/// Returns the name that a server would have if it was not taken.
pub(super) fn plain_server_name(written: &str) -> Option<PluginName> {
    PluginName::new(&sound(written, "server")).ok()
}

/// Returns the key of a directory that is none of those taken, and takes it.
pub(super) fn directory_key(written: &str, taken: &mut BTreeSet<String>) -> Option<DependencyKey> {
    let base = sound(written, "directory");
    let numbered = (2..100).map(|number| format!("{base}-{number}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name))?;
    taken.insert(name.clone());
    DependencyKey::new(&name).ok()
}

/// Returns a text in the grammar of names.
fn sound(written: &str, otherwise: &str) -> String {
    let plain = |character: char| match character.to_ascii_lowercase() {
        character @ ('a'..='z' | '0'..='9' | '_' | '-') => character,
        _ => '-',
    };
    let text: String = written.chars().map(plain).collect();
    let text = text.trim_start_matches(|character: char| !character.is_ascii_lowercase()).trim_end_matches('-');
    match text.len() {
        0 => otherwise.to_owned(),
        // Every character is ASCII by now, so every byte is a boundary.
        length => text[..length.min(MADE_BYTES_MAX)].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_becomes_sound_and_free() {
        let name = |written: &str| server_name(written, |name| name.as_str() == "github").map(|name| name.to_string());
        for (written, made) in [
            ("GitHub MCP", "github-mcp"),
            ("github", "github-2"),
            ("", "server"),
            ("123", "server"),
            ("1password", "password"),
            ("a.b/c", "a-b-c"),
            ("\u{1b}[2Jé", "j"),
        ] {
            assert_eq!(name(written).as_deref(), Some(made), "{written:?}");
        }
        assert_eq!(name(&"x".repeat(500)).map(|name| name.len()), Some(MADE_BYTES_MAX));
        let mut taken = BTreeSet::from(["server".to_owned()]);
        assert_eq!(directory_key("server", &mut taken).map(|key| key.to_string()).as_deref(), Some("server-2"));
    }
}
