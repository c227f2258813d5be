//! Detects cycles among the providers of one call. A provider that would wait for itself, directly or through others,
//! gets an error instead of waiting forever.

use super::error::{InjectError, MadeValue};
use super::key::KeyId;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::OnceCell;

/// The cell of a value in a call.
pub(super) type ValueCell = Arc<OnceCell<MadeValue>>;

/// The values of a call, and which providers wait for which of them.
#[derive(Default)]
pub(super) struct Board(Mutex<WaitEntries>);

#[derive(Default)]
struct WaitEntries {
    cells: BTreeMap<KeyId, ValueCell>,
    /// Pairs of the key whose provider waits, and the key that it waits for.
    waits: Vec<(KeyId, KeyId)>,
}

/// A wait of one provider for one value, until it is dropped.
pub(super) struct ValueWait<'a> {
    board: &'a Board,
    wait: (KeyId, KeyId),
}

impl Board {
    /// Returns the cell of a value.
    pub(super) fn cell(&self, key: KeyId) -> ValueCell {
        Arc::clone(self.entries().cells.entry(key).or_default())
    }

    /// Notes that the provider of `from` waits for `to`. Fails if that would be a cycle.
    pub(super) fn wait(&self, from: KeyId, to: KeyId) -> Result<ValueWait<'_>, InjectError> {
        let mut entries = self.entries();
        if let Some(way) = entries.way(to, from) {
            let mut names = vec![from.name];
            names.extend(way.iter().map(|key| key.name));
            return Err(InjectError::Cycle { names });
        }
        entries.waits.push((from, to));
        Ok(ValueWait { board: self, wait: (from, to) })
    }

    fn entries(&self) -> MutexGuard<'_, WaitEntries> {
        self.0.lock_recovered()
    }
}

impl WaitEntries {
    /// Returns the keys from one key to another along the waits, including both.
    fn way(&self, from: KeyId, to: KeyId) -> Option<Vec<KeyId>> {
        let (mut seen, mut ways) = (vec![from], vec![vec![from]]);
        while let Some(way) = ways.pop() {
            let Some(&last) = way.last() else { continue };
            if last == to {
                return Some(way);
            }
            // A provider whose value exists waits for nothing, even if its entry is still there.
            for &(_, next) in self.waits.iter().filter(|(waits, _)| *waits == last && !self.is_made(last)) {
                if !seen.contains(&next) {
                    seen.push(next);
                    ways.push([way.as_slice(), &[next]].concat());
                }
            }
        }
        None
    }

    /// Returns whether a value exists, so that waiting for it does not block.
    fn is_made(&self, key: KeyId) -> bool {
        self.cells.get(&key).is_some_and(|cell| cell.initialized())
    }
}

impl Drop for ValueWait<'_> {
    fn drop(&mut self) {
        let mut entries = self.board.entries();
        if let Some(place) = entries.waits.iter().position(|wait| *wait == self.wait) {
            entries.waits.swap_remove(place);
        }
    }
}
