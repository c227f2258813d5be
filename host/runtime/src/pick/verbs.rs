//! What the interfaces of programs call the same thing. It is about verbs alone, which every interface chooses anew;
//! what a tool works on is called by its own name.

use super::groups::Groups;
use std::sync::LazyLock;

/// Verbs that stand for one another, and the words of a question that ask for it.
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

/// Verbs that mean the same, and not only that something is read.
const NEAR: &[&[&str]] = &[&["search", "find", "grep", "locate", "query", "contain", "look"]];

/// Returns the stems that stand for this one, itself left out; none where it is no verb of the table.
pub(super) fn alike(term: &str) -> &'static [String] {
    static ALIKE: LazyLock<Groups> = LazyLock::new(|| Groups::of(GROUPS));
    ALIKE.alike(term)
}

/// Returns the stems that mean the same as this one, itself left out.
pub(super) fn near(term: &str) -> &'static [String] {
    static NEARBY: LazyLock<Groups> = LazyLock::new(|| Groups::of(NEAR));
    NEARBY.alike(term)
}

#[cfg(test)]
mod tests {
    use super::super::stem::stem;
    use super::*;

    #[test]
    fn verbs_stand_for_one_another_both_ways() {
        let is_alike = |one: &str, other: &str| alike(&stem(one)).contains(&stem(other));
        for (one, other) in [("make", "create"), ("remove", "delete"), ("show", "describe"), ("remove", "detach")] {
            assert!(is_alike(one, other) && is_alike(other, one), "{one} {other}");
        }
        assert!(!is_alike("create", "delete") && !is_alike("add", "add"));
        assert!(alike("bucket").is_empty());
    }
}
