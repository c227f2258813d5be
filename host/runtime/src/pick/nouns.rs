//! What people call the things that interfaces have names for: a machine is an instance to one and a server to another.

use super::groups::Groups;
use std::sync::LazyLock;

/// Nouns that stand for one another in what people want of programs.
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

/// Returns the stems that stand for this one, itself left out.
pub(super) fn alike(term: &str) -> &'static [String] {
    static NOUNS: LazyLock<Groups> = LazyLock::new(|| Groups::of(GROUPS));
    NOUNS.alike(term)
}
