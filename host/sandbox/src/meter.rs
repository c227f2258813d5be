//! Counts the memory and table elements that a store allocates, and refuses growth beyond the limits.

use crate::stop::LimitKind;
use portcullis_policy::Limits;
use wasmtime::ResourceLimiter;

/// Maximum memory of an instance that is kept for another call, in percent of its limit. So what a guest leaks makes no
/// later call fail.
const KEPT_MEMORY_PERCENT_MAX: usize = 75;

/// The allocations of one store, and their limits.
#[derive(Debug)]
pub(crate) struct Meter {
    memory_bytes: usize,
    memory_bytes_max: usize,
    table_elements: usize,
    table_elements_max: usize,
    instances_max: usize,
    tables_max: usize,
    memories_max: usize,
    refused: Option<LimitKind>,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes: 0,
            memory_bytes_max: limits.memory_bytes,
            table_elements: 0,
            table_elements_max: limits.table_elements,
            instances_max: limits.core_instances,
            tables_max: limits.tables,
            memories_max: limits.memories,
            refused: None,
        }
    }

    /// Returns the memory in use, in bytes. A linear memory never shrinks, so this is also the peak.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes as u64
    }

    /// Returns whether the store uses so much of its memory that it must not be kept for another call.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.memory_bytes > self.memory_bytes_max / 100 * KEPT_MEMORY_PERCENT_MAX
    }

    /// Returns the limit of the last refused growth, if any.
    pub(crate) fn refused(&self) -> Option<LimitKind> {
        self.refused
    }
}

/// Adds a growth to the total of all objects, if the total stays within the limit.
///
/// The engine refuses a growth past the object's own maximum in any case, so such a growth is not counted.
fn grow(taken: &mut usize, most: usize, step: GrowthStep, refused: &mut Option<LimitKind>, kind: LimitKind) -> bool {
    let total = taken.saturating_add(step.desired.saturating_sub(step.current));
    if total > most {
        *refused = Some(kind);
        return false;
    }
    if step.maximum.is_some_and(|maximum| step.desired > maximum) {
        return false;
    }
    *taken = total;
    true
}

/// A growth of a memory or table, as the engine requests it.
#[derive(Clone, Copy)]
struct GrowthStep {
    current: usize,
    desired: usize,
    maximum: Option<usize>,
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let step = GrowthStep { current, desired, maximum };
        Ok(grow(&mut self.memory_bytes, self.memory_bytes_max, step, &mut self.refused, LimitKind::Memory))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let step = GrowthStep { current, desired, maximum };
        Ok(grow(&mut self.table_elements, self.table_elements_max, step, &mut self.refused, LimitKind::TableElements))
    }

    fn instances(&self) -> usize {
        self.instances_max
    }

    fn tables(&self) -> usize {
        self.tables_max
    }

    fn memories(&self) -> usize {
        self.memories_max
    }
}
