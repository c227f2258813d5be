//! Synonyms of verbs, because every interface chooses its own verbs for the same action.

use super::groups::Groups;
use std::sync::LazyLock;

/// Groups of related verbs, and the words in a query that ask for them.
const GROUPS: &[&[&str]] = &[
    &["add", "create", "make", "new", "set", "setup", "build", "register", "open", "provision"],
    &["delete", "remove", "destroy", "drop", "erase", "purge", "rid", "clear", "deregister"],
    &[
        "get", "describe", "list", "show", "read", "fetch", "view", "see", "look", "display", "find", "search", "grep",
        "retrieve", "query", "check", "what", "which", "who", "how", "many",
    ],
    &["update", "change", "modify", "edit", "set", "alter", "adjust", "rename", "replace", "put"],
    &["start", "run", "launch", "begin", "execute", "invoke", "submit", "trigger"],
    &["stop", "cancel", "abort", "terminate", "end", "kill", "halt", "shut"],
    &["enable", "activate", "turn", "switch", "allow"],
    &["disable", "deactivate", "turn", "switch", "disallow"],
    &["attach", "associate", "add", "assign", "connect", "link", "bind"],
    &["detach", "disassociate", "remove", "unassign", "disconnect", "unlink"],
    &["send", "post", "publish", "put", "write", "submit"],
    &["upload", "import", "put", "store", "save", "write"],
    &["download", "export", "get", "fetch"],
    &["restart", "reboot", "reset"],
    &["copy", "duplicate", "clone"],
    &["permit", "grant", "allow", "authorize", "authorise"],
    &["revoke", "deny", "block", "forbid"],
    &["accept", "approve", "confirm", "acknowledge", "agree"],
    &["reject", "decline", "refuse", "deny", "dismiss"],
    &["move", "transfer", "migrate", "relocate", "put"],
    &["buy", "purchase", "order", "reserve"],
    &["pause", "suspend", "stop", "freeze"],
    &["resume", "continue", "restart", "unpause"],
    &["verify", "validate", "test", "check", "try"],
    &["generate", "create", "make", "produce", "compute"],
    &["retry", "rerun", "again", "repeat"],
    &["give", "grant", "attach", "assign", "add"],
    &["keep", "store", "save", "retain", "put"],
    &["rent", "allocate", "reserve", "purchase", "buy"],
    &["differ", "compare", "detect"],
    &["undo", "restore", "recover", "revert", "rollback"],
];

/// Verbs with the same meaning, which are not only related because they all read something.
const NEAR: &[&[&str]] = &[&["search", "find", "grep", "locate", "query", "contain", "look"]];

/// Returns the stems that are related to this one, or none if it is not in the table.
pub(super) fn alike(term: &str) -> &'static [String] {
    static ALIKE: LazyLock<Groups> = LazyLock::new(|| Groups::of(GROUPS));
    ALIKE.alike(term)
}

/// Returns the other stems with the same meaning.
pub(super) fn near(term: &str) -> &'static [String] {
    static NEARBY: LazyLock<Groups> = LazyLock::new(|| Groups::of(NEAR));
    NEARBY.alike(term)
}

#[cfg(test)]
mod tests {
    use super::super::stem::stem;
    use super::*;

    #[test]
    fn related_verbs_are_symmetric() {
        let is_alike = |one: &str, other: &str| alike(&stem(one)).contains(&stem(other));
        for (one, other) in [("make", "create"), ("remove", "delete"), ("show", "describe"), ("remove", "detach")] {
            assert!(is_alike(one, other) && is_alike(other, one), "{one} {other}");
        }
        assert!(!is_alike("create", "delete") && !is_alike("add", "add"));
        assert!(alike("bucket").is_empty());
    }
}
