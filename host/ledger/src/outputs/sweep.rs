//! Removes leftovers of killed processes and outdated outputs, when a host opens and from time to time.

use super::error::OutputError;
use super::kept::{KEPT_TIME, Outputs};
use super::place::OutputPlace;
use crate::ledger::{LedgerChange, LedgerError, milliseconds};
use std::collections::BTreeSet;

impl Outputs {
    /// Removes content without a row, and rows whose file does not exist, whose writer has died, or that are too old.
    /// A row whose shared content is gone stays until it is too old, because only this host may fail to see it.
    pub(super) fn sweep(&self) -> Result<(), OutputError> {
        let place = &self.0.place;
        let sorted = |change: &LedgerChange<'_>, listed: &BTreeSet<String>| {
            let since = change.now().saturating_sub(milliseconds(KEPT_TIME));
            match place {
                OutputPlace::Files(_) => change.sort_outputs(Some(listed), since),
                OutputPlace::Shared(_) => change.sort_outputs(None, since),
            }
        };
        // Check first with a read, because opening a host for one call should not wait for other writers.
        let listed = place.listed()?;
        let (holding, dead) = self.0.ledger.look(|change| sorted(change, &listed))?;
        if dead.is_empty() && listed.is_subset(&holding) {
            return Ok(());
        }
        let orphans = self.change(|change| {
            // A row is written before its content, and the list is older than the rows that are read now. So content
            // without a row is a leftover. Rows without a file are only known from a list inside the transaction.
            let listed = match place {
                OutputPlace::Files(_) => place.listed().map_err(LedgerError::from)?,
                OutputPlace::Shared(_) => listed,
            };
            let (holding, dead) = sorted(change, &listed)?;
            dead.iter().try_for_each(|id| change.forget_output(id))?;
            Ok::<_, LedgerError>(listed.difference(&holding).cloned().collect::<Vec<_>>())
        })?;
        place.remove(&orphans);
        Ok(())
    }
}
