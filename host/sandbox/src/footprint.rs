//! The worst case of memory use: what one call, all calls, and an idle engine can make the process use.
//!
//! It is computed, not measured. `tests/tests/hoard.rs` compares it with the memory that calls really use.

use crate::context::OUTPUT_PIECE_BYTES_MAX;
use crate::engine::config::{
    EngineConfig, FIBER_STACK_BYTES, MEMORY_KEEP_RESIDENT_BYTES, TABLE_KEEP_RESIDENT_BYTES, slots,
};
use crate::host_memory::{HANDLE_BYTES, RESOURCE_BYTES};
use portcullis_policy::Limits;
use portcullis_policy::limits::{JSON_MEMORY_FACTOR, JSON_SMALL_TEXT_BYTES};

/// Copies of a store's value that exist at one time besides the guest's own: the row in the database, and the value
/// that the guest sends or receives.
const STORE_VALUE_COPIES: usize = 2;

/// Pieces of a written output that exist at one time: what the guest writes, what the redactor holds back, what it
/// releases, and what is passed on.
const OUTPUT_PIECES: usize = 4;

/// Copies of the answer's beginning that exist at one time when a call ends: the stored beginning, the reply's output
/// and the reply's message.
const ANSWER_COPIES: usize = 3;

/// Copies of a returned answer that exist at one time: with and without secrets.
const RETURNED_COPIES: usize = 2;

/// The maximum memory that an engine can make the process use, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// One call at its limits: the guest's memory and tables, the stack of its fiber, and the host's memory for it,
    /// such as requests, bodies, open streams, values of stores, and its output.
    pub per_call_bytes: u64,
    /// All concurrent calls at their limits.
    pub all_calls_bytes: u64,
    /// Memory that stays mapped when nothing runs, after every slot was used. An instance that a session keeps has the
    /// place of a call, so it counts there and not here.
    pub idle_bytes: u64,
}

impl Footprint {
    pub(crate) fn of(config: &EngineConfig) -> Self {
        let slots = u64::from(slots(config));
        // What the host holds for a guest is freed before its answer is processed, so the two phases do not add up. The
        // guest's own memory stays if the session keeps the instance, as any later policy may want.
        let ending_bytes = guest_bytes(&config.largest).saturating_add(ending_bytes(&config.largest));
        let per_call_bytes = running_bytes(config).max(ending_bytes);
        // The pool keeps `max_unused_warm_slots` of each kind warm, of memories and of tables alike.
        let kept = MEMORY_KEEP_RESIDENT_BYTES as u64 + TABLE_KEEP_RESIDENT_BYTES as u64;
        Self {
            per_call_bytes,
            all_calls_bytes: per_call_bytes.saturating_mul(slots),
            idle_bytes: kept.saturating_mul(slots),
        }
    }
}

/// Returns the bytes of a guest's memories and tables.
fn guest_bytes(largest: &Limits) -> u64 {
    sum([largest.memory_bytes, largest.table_elements.saturating_mul(size_of::<usize>())])
}

/// Returns the bytes of a call while its guest runs.
fn running_bytes(config: &EngineConfig) -> u64 {
    let largest = &config.largest;
    let host_bytes = sum([
        FIBER_STACK_BYTES,
        largest.transfer_bytes,
        largest.arguments_bytes,
        largest.log_bytes,
        largest.output_bytes,
        OUTPUT_PIECES * OUTPUT_PIECE_BYTES_MAX,
        // Requests, bodies, connections, listings and streams.
        largest.host_memory_bytes,
        largest.resources.saturating_mul(RESOURCE_BYTES),
        largest.handles.saturating_mul(HANDLE_BYTES),
        config.store_value_bytes.saturating_mul(STORE_VALUE_COPIES),
        documents_bytes(largest),
    ]);
    guest_bytes(largest).saturating_add(host_bytes)
}

/// Returns the bytes of a call while its answer is checked, truncated and stored.
fn ending_bytes(largest: &Limits) -> u64 {
    sum([
        largest.transfer_bytes.saturating_mul(RETURNED_COPIES),
        largest.arguments_bytes,
        largest.log_bytes,
        largest.output_bytes.saturating_mul(ANSWER_COPIES),
        documents_bytes(largest),
    ])
}

/// Returns the bytes of a call's JSON documents that exist at the same time: its arguments, and one that it sends to a
/// service, receives from one, or returns.
fn documents_bytes(largest: &Limits) -> usize {
    let document = |text: usize| text.max(JSON_SMALL_TEXT_BYTES).saturating_mul(JSON_MEMORY_FACTOR);
    document(largest.arguments_bytes).saturating_add(document(largest.arguments_bytes.max(largest.output_bytes)))
}

fn sum(parts: impl IntoIterator<Item = usize>) -> u64 {
    parts.into_iter().fold(0, |sum, bytes| u64::saturating_add(sum, bytes as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn footprint(change: impl FnOnce(&mut EngineConfig)) -> u64 {
        let mut config = EngineConfig { calls: 1, largest: Limits::default(), store_value_bytes: 0 };
        // Larger than an output, so that the arguments determine the size of a call's documents.
        config.largest.arguments_bytes = 4 * MIB;
        change(&mut config);
        Footprint::of(&config).per_call_bytes
    }

    /// Raises one limit by a mebibyte.
    type Raise = fn(&mut EngineConfig);

    #[test]
    fn every_limit_of_a_policy_raises_the_footprint() {
        let before = footprint(|_| {});
        let raised: [(&str, usize, Raise); 9] = [
            ("memory", 1, |config| config.largest.memory_bytes += MIB),
            ("transfer", 1, |config| config.largest.transfer_bytes += MIB),
            ("host-memory", 1, |config| config.largest.host_memory_bytes += MIB),
            ("output", 1, |config| config.largest.output_bytes += MIB),
            ("log", 1, |config| config.largest.log_bytes += MIB),
            ("store value", STORE_VALUE_COPIES, |config| config.store_value_bytes += MIB),
            ("resources", RESOURCE_BYTES, |config| config.largest.resources += MIB),
            ("handles", HANDLE_BYTES, |config| config.largest.handles += MIB),
            // Two documents of 32 bytes for each byte, and their text.
            ("arguments", 2 * JSON_MEMORY_FACTOR + 1, |config| config.largest.arguments_bytes += MIB),
        ];
        for (what, factor, raise) in raised {
            assert_eq!(footprint(raise) - before, (factor * MIB) as u64, "{what}");
        }
    }

    #[test]
    fn an_answer_that_is_larger_than_the_guest_counts_with_its_copies() {
        let small = |config: &mut EngineConfig| {
            (config.largest.memory_bytes, config.largest.host_memory_bytes) = (MIB, MIB);
            (config.largest.transfer_bytes, config.largest.output_bytes) = (128 * MIB, MIB);
        };
        let with_more = |config: &mut EngineConfig| {
            small(config);
            config.largest.transfer_bytes += MIB;
        };
        assert_eq!(footprint(with_more) - footprint(small), (RETURNED_COPIES * MIB) as u64);
        // A session keeps its instance while the answer is processed.
        let with_guest = |config: &mut EngineConfig| {
            small(config);
            config.largest.memory_bytes += MIB;
        };
        assert_eq!(footprint(with_guest) - footprint(small), MIB as u64);
    }
}
