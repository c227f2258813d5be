//! What a guest can learn without a handle: its settings, the time, and randomness.

mod random;
mod time;

pub use time::TimeSource;

use portcullis_policy::ClockResolution;
use std::collections::BTreeMap;
use std::sync::Arc;
use time::GuestClock;
use wasmtime_wasi::WasiCtxBuilder;

/// The settings, the time and the randomness of one call. The default has no setting, the system's time to a
/// millisecond, and the system's randomness.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// What `wasi:config/store` gives.
    pub config: Arc<BTreeMap<String, String>>,
    /// How fine the clocks are, whoever gives the time.
    pub clock: ClockResolution,
    /// The time in place of the system's.
    pub time: Option<Arc<dyn TimeSource>>,
    /// The seed of all randomness, in place of the system's: for tests, and for embedders who want the same answer
    /// twice. Every call with the same seed gets the same bytes, so nothing that has to be secret may come of them.
    pub seed: Option<u64>,
}

impl Surroundings {
    /// Gives a guest the clocks and the randomness.
    pub(crate) fn surround(&self, wasi: &mut WasiCtxBuilder) {
        let clock = GuestClock::new(self.clock, self.time.clone());
        wasi.wall_clock(clock.clone()).monotonic_clock(clock);
        if let Some(seed) = self.seed {
            random::seed(wasi, seed);
        }
    }
}
