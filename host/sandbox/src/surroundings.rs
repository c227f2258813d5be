//! What a guest can learn without a handle: its settings, the time, and randomness.

use portcullis_policy::ClockResolution;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A time that an embedder or a test sets in place of the system's.
pub trait TimeSource: Send + Sync {
    /// Since 1970.
    fn wall(&self) -> Duration;

    /// Since some fixed moment; never less than before.
    fn monotonic(&self) -> Duration;
}

/// The settings, the time and the randomness of one call.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// What `wasi:config/store` gives.
    pub config: Arc<BTreeMap<String, String>>,
    /// How fine the clocks are.
    pub clock: ClockResolution,
    /// The time in place of the system's.
    pub time: Option<Arc<dyn TimeSource>>,
    /// The seed of all randomness, in place of the system's.
    pub seed: Option<u64>,
}
