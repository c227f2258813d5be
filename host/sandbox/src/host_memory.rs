//! The memory that the host holds for one call outside the guest's own memory: one budget for all interfaces.
//!
//! An object in the resource table is weighed after each host call that can change it. What is stored elsewhere, such
//! as a stream's buffer or a connection, owns a [`MemoryCharge`]. The fixed size of a table entry is not charged here:
//! the limits on resources and handles bound their number, and the footprint counts [`RESOURCE_BYTES`] and
//! [`HANDLE_BYTES`].
//!
//! A weight is counted after the bytes were allocated. One host call brings at most the `transfer` limit, which the
//! footprint counts separately.

use portcullis_policy::Limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wasmtime::component::Resource;

/// Maximum memory of one entry of the resource table without its weight, in bytes. The largest is the body of an
/// outgoing HTTP request: its channel allocates a block of 32 slots.
pub(crate) const RESOURCE_BYTES: usize = 2048;

/// Maximum memory of one component handle in the engine, in bytes.
pub(crate) const HANDLE_BYTES: usize = 64;

/// Overhead of one allocation: the allocator's header, rounding, and the counter of shared bytes.
pub(crate) const ALLOCATION_BYTES: usize = 48;

/// An error: the call has exceeded its budget of host memory, and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call exceeds its limit of {0} bytes of host memory")]
pub(crate) struct HostMemoryFull(usize);

/// The budget of one call. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct HostMemory(Arc<MemoryLedger>);

#[derive(Debug)]
struct MemoryLedger {
    bytes_max: usize,
    held_bytes: AtomicUsize,
}

impl HostMemory {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self(Arc::new(MemoryLedger { bytes_max: limits.host_memory_bytes, held_bytes: AtomicUsize::new(0) }))
    }

    /// Charges bytes until the result is dropped.
    pub(crate) fn charge(&self, bytes: usize) -> Result<MemoryCharge, HostMemoryFull> {
        let mut charge = MemoryCharge { memory: self.clone(), bytes: 0 };
        charge.raise_to(bytes)?;
        Ok(charge)
    }

    fn take(&self, bytes: usize) -> Result<(), HostMemoryFull> {
        let sum = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= self.0.bytes_max);
        let taken = self.0.held_bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, sum);
        taken.map(drop).map_err(|_| HostMemoryFull(self.0.bytes_max))
    }

    fn give_back(&self, bytes: usize) {
        self.0.held_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    #[cfg(test)]
    pub(crate) fn held_bytes(&self) -> usize {
        self.0.held_bytes.load(Ordering::Acquire)
    }
}

/// Bytes of a call's budget. Dropping this returns them.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    memory: HostMemory,
    bytes: usize,
}

impl MemoryCharge {
    /// Raises the charge to `bytes`, if it is lower.
    pub(crate) fn raise_to(&mut self, bytes: usize) -> Result<(), HostMemoryFull> {
        let more = bytes.saturating_sub(self.bytes);
        self.memory.take(more)?;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes);
    }
}

/// An object whose size depends on the guest.
pub(crate) trait Weighed {
    /// Returns the bytes that the host holds for the object, without its fixed size.
    fn weight(&self) -> usize;
}

/// The weights of the entries of a resource table, by their index.
#[derive(Debug)]
pub(crate) struct Weights {
    memory: HostMemory,
    /// Indices are dense, because the table reuses them.
    bytes: Vec<usize>,
}

impl Weights {
    pub(crate) fn new(memory: HostMemory) -> Self {
        Self { memory, bytes: Vec::new() }
    }

    /// Replaces the weight of an entry.
    pub(crate) fn set<T>(&mut self, entry: &Resource<T>, bytes: usize) -> Result<(), HostMemoryFull> {
        let index = entry.rep() as usize;
        if index >= self.bytes.len() {
            self.bytes.resize(index + 1, 0);
        }
        let before = std::mem::replace(&mut self.bytes[index], 0);
        // Returned first, so that only the growth needs room. If there is none, the guest ends.
        self.memory.give_back(before);
        self.memory.take(bytes)?;
        self.bytes[index] = bytes;
        Ok(())
    }

    /// Checks that there is room for bytes that the host holds until a host call ends.
    pub(crate) fn has_room(&self, bytes: usize) -> Result<(), HostMemoryFull> {
        self.memory.charge(bytes).map(drop)
    }

    /// Returns the weight of an entry to the budget, by its index. The entry is removed.
    pub(crate) fn remove(&mut self, index: u32) {
        if let Some(bytes) = self.bytes.get_mut(index as usize) {
            self.memory.give_back(std::mem::take(bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: usize) -> HostMemory {
        HostMemory::new(&Limits { host_memory_bytes: bytes, ..Limits::default() })
    }

    #[test]
    fn a_charge_is_given_back_when_it_is_dropped_and_a_refused_one_takes_nothing() {
        let memory = memory(10);
        let mut charge = memory.charge(6).unwrap();
        assert!(matches!(memory.charge(5), Err(HostMemoryFull(10))));
        assert!(memory.charge(usize::MAX).is_err());
        charge.raise_to(10).unwrap();
        charge.raise_to(3).unwrap();
        assert_eq!(memory.held_bytes(), 10);
        assert!(charge.raise_to(11).is_err());
        drop(charge);
        assert_eq!(memory.held_bytes(), 0);
    }

    #[test]
    fn an_entry_weighs_what_it_was_weighed_last_and_nothing_once_it_is_gone() {
        let memory = memory(10);
        let mut weights = Weights::new(memory.clone());
        let (one, other) = (Resource::<()>::new_own(0), Resource::<()>::new_own(7));
        weights.set(&one, 4).unwrap();
        weights.set(&other, 6).unwrap();
        weights.set(&one, 3).unwrap();
        assert_eq!(memory.held_bytes(), 9);
        assert!(weights.set(&one, 5).is_err());
        weights.remove(7);
        weights.remove(7);
        weights.remove(1000);
        weights.set(&one, 10).unwrap();
        assert!(weights.has_room(1).is_err());
        weights.remove(0);
        assert_eq!(memory.held_bytes(), 0);
    }
}
