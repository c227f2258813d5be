//! The hints about a tool that clients get. They state what the policy enforces, never what the tool's author claims.

use portcullis::Reach;
use rmcp::model::ToolAnnotations;

/// Returns the hints for what a tool can reach. The host can only guarantee that a tool changes nothing. Whether a
/// change is destructive or idempotent is known only to the author, so a tool that can write gets the cautious value of
/// both.
pub(crate) fn of(reach: Reach) -> ToolAnnotations {
    let read_only = !reach.writes;
    ToolAnnotations::new().read_only(read_only).destructive(!read_only).idempotent(read_only).open_world(reach.leaves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_tool_that_cannot_write_is_read_only() {
        for (writes, leaves) in [(false, false), (false, true), (true, false), (true, true)] {
            let hints = of(Reach { writes, leaves });
            assert_eq!(hints.read_only_hint, Some(!writes));
            assert_eq!(hints.destructive_hint, Some(writes));
            assert_eq!(hints.idempotent_hint, Some(!writes));
            assert_eq!(hints.open_world_hint, Some(leaves));
        }
    }
}
