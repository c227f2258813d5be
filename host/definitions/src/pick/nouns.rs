//! Synonyms of nouns. Interfaces name the same thing differently: a machine is an instance in one and a server in
//! another.

use super::groups::Groups;
use std::sync::LazyLock;

/// Groups of nouns that mean the same in requests to programs.
const GROUPS: &[&[&str]] = &[
    &["server", "machine", "computer", "instance", "host", "vm"],
    &["disk", "drive", "volume"],
    &["file", "object", "document"],
    &["folder", "directory"],
    &["picture", "photo", "image"],
    &["mail", "email"],
    &["text", "word", "string", "phrase", "pattern", "content"],
    &["page", "site", "website", "url", "web"],
    &["job", "task", "todo"],
    &["password", "secret", "credential"],
    &["label", "tag"],
    &["setting", "configuration", "option", "preference", "attribute"],
    &["version", "revision"],
    &["database", "db"],
    &["person", "user", "member"],
];

/// Returns the stems of the synonyms of this one.
pub(super) fn alike(term: &str) -> &'static [String] {
    static NOUNS: LazyLock<Groups> = LazyLock::new(|| Groups::of(GROUPS));
    NOUNS.alike(term)
}
