//! What is left of processes that were killed, and what is out of date: taken away when a host opens.

use super::kept::{KEPT_TIME, OutputError, Outputs, is_id};
use crate::ledger::{LedgerError, milliseconds, now};
use std::collections::BTreeSet;
use std::io;

impl Outputs {
    /// Takes away files that no row names, and rows whose file is not there, whose writer is not there, or that are
    /// older than outputs are kept.
    pub(super) fn sweep(&self) -> Result<(), OutputError> {
        let since = now().saturating_sub(milliseconds(KEPT_TIME));
        // Looked at first: to open a host for one call should not wait for whoever writes.
        let files = self.files()?;
        let (holding, dead) = self.0.ledger.look(|change| change.sort_outputs(&files, since))?;
        if dead.is_empty() && files.iter().all(|file| holding.contains(file)) {
            return Ok(());
        }
        let orphans = self.change(|change| {
            // Listed anew while nobody can begin one: a row comes before its file, so what has none is nobody's.
            let files = self.files().map_err(LedgerError::from)?;
            let (holding, dead) = change.sort_outputs(&files, since)?;
            dead.iter().try_for_each(|id| change.forget_output(id))?;
            Ok::<_, LedgerError>(files.difference(&holding).cloned().collect::<Vec<_>>())
        })?;
        self.remove(&orphans);
        Ok(())
    }

    /// The files that are named as outputs are; another is not ours.
    fn files(&self) -> io::Result<BTreeSet<String>> {
        let mut files = BTreeSet::new();
        for entry in self.0.directory.entries()? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if is_id(&name) {
                files.insert(name);
            }
        }
        Ok(files)
    }
}
