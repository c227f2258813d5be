//! Who waits for whom among the providers of one call: a provider that would wait for itself is told so, however long
//! the way around is, instead of waiting for ever.

use super::error::{InjectError, Made};
use super::key::KeyId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;

/// The one place of a value in a call.
pub(super) type Cell = Arc<OnceCell<Made>>;

/// The values of a call, and who waits for which.
#[derive(Default)]
pub(super) struct Board(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    cells: BTreeMap<KeyId, Cell>,
    /// Each from the key whose provider waits to the key it waits for.
    waits: Vec<(KeyId, KeyId)>,
}

/// One provider waits for one value, until this is dropped.
pub(super) struct Waiting<'a> {
    board: &'a Board,
    wait: (KeyId, KeyId),
}

impl Board {
    /// The place of a value.
    pub(super) fn cell(&self, key: KeyId) -> Cell {
        Arc::clone(self.entries().cells.entry(key).or_default())
    }

    /// The provider of `from` begins to wait for `to`.
    pub(super) fn wait(&self, from: KeyId, to: KeyId) -> Result<Waiting<'_>, InjectError> {
        let mut entries = self.entries();
        if let Some(way) = entries.way(to, from) {
            let mut names = vec![from.name];
            names.extend(way.iter().map(|key| key.name));
            return Err(InjectError::Cycle { names });
        }
        entries.waits.push((from, to));
        Ok(Waiting { board: self, wait: (from, to) })
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// The keys from one to another along what waits, both included.
    fn way(&self, from: KeyId, to: KeyId) -> Option<Vec<KeyId>> {
        let (mut seen, mut ways) = (vec![from], vec![vec![from]]);
        while let Some(way) = ways.pop() {
            let Some(&last) = way.last() else { continue };
            if last == to {
                return Some(way);
            }
            for &(_, next) in self.waits.iter().filter(|(waits, _)| *waits == last && !self.is_made(last)) {
                if !seen.contains(&next) {
                    seen.push(next);
                    ways.push([way.as_slice(), &[next]].concat());
                }
            }
        }
        None
    }

    /// Nobody waits long for a value that is there.
    fn is_made(&self, key: KeyId) -> bool {
        self.cells.get(&key).is_some_and(|cell| cell.initialized())
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut entries = self.board.entries();
        if let Some(place) = entries.waits.iter().position(|wait| *wait == self.wait) {
            entries.waits.swap_remove(place);
        }
    }
}
