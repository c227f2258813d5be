//! The hints that clients get of a tool: what the policy enforces, and nothing that its author claims.

use portcullis::Reach;
use rmcp::model::ToolAnnotations;

/// The hints of what a tool can reach. A tool that changes nothing is all that can be promised: whether a change
/// destroys, or comes to the same when it is repeated, only its author could say.
pub(crate) fn of(reach: Reach) -> ToolAnnotations {
    let read_only = !reach.writes;
    ToolAnnotations::new().read_only(read_only).destructive(!read_only).idempotent(read_only).open_world(reach.leaves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_change_nothing_is_called_read_only() {
        for (writes, leaves) in [(false, false), (false, true), (true, false), (true, true)] {
            let hints = of(Reach { writes, leaves });
            assert_eq!(hints.read_only_hint, Some(!writes));
            assert_eq!(hints.destructive_hint, Some(writes));
            assert_eq!(hints.idempotent_hint, Some(!writes));
            assert_eq!(hints.open_world_hint, Some(leaves));
        }
    }
}
