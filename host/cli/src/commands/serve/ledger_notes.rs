//! Tells in the log of a server what its host finds about the ledger that it shares with others. Each once, until it
//! changes.

use portcullis::ledger_standing::{Anchoring, LedgerStanding};
use portcullis::text::OneLine;

/// What was told.
#[derive(Default)]
pub(super) struct LedgerNotes {
    standing: LedgerStanding,
}

impl LedgerNotes {
    /// Tells what has changed.
    pub(super) fn tell(&mut self, standing: &LedgerStanding) {
        if standing.anchoring != self.standing.anchoring {
            tell_anchoring(&standing.anchoring);
        }
        let (before, now) = (self.standing.policies.len(), standing.policies.len());
        if now > 1 && standing.policies != self.standing.policies {
            tracing::warn!(
                target: "portcullis::server",
                event = "policies",
                policies = now,
                "the hosts of this ledger have {now} different policies: give all of them the same one"
            );
        } else if before > 1 && now == 1 {
            tracing::info!(target: "portcullis::server", event = "policies", "the hosts of this ledger have one policy");
        }
        self.standing = standing.clone();
    }
}

fn tell_anchoring(anchoring: &Anchoring) {
    match anchoring {
        Anchoring::Works => {
            tracing::info!(target: "portcullis::server", event = "anchor", "the audit log is anchored");
        }
        Anchoring::Waits(why) => tracing::warn!(
            target: "portcullis::server",
            event = "anchor",
            "the audit log cannot be anchored at the moment: {}",
            OneLine(why)
        ),
        Anchoring::Damaged(why) | Anchoring::OtherLog(why) => tracing::error!(
            target: "portcullis::server",
            event = "anchor",
            "{}: run `portcullis audit verify --all`",
            OneLine(why)
        ),
    }
}
