//! What a guest gets without a handle: its settings, the time, and randomness.

mod random;
mod time;

pub use time::TimeSource;

use portcullis_policy::ClockResolution;
use std::collections::BTreeMap;
use std::sync::Arc;
use time::GuestClock;
use wasmtime_wasi::WasiCtxBuilder;

/// The settings, the time and the randomness of one call. The default has no settings, the system's time with a
/// resolution of a millisecond, and the system's randomness.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The settings of `wasi:config/store`.
    pub config: Arc<BTreeMap<String, String>>,
    /// The resolution of the clocks, also of an injected time source.
    pub clock: ClockResolution,
    /// A time source that replaces the system's clocks.
    pub time: Option<Arc<dyn TimeSource>>,
    /// A seed that replaces the system's randomness, for tests and for embedders that need reproducible answers. All
    /// calls with the same seed get the same bytes, so do not use it where a guest creates secrets.
    pub seed: Option<u64>,
}

impl Surroundings {
    /// Sets the clocks and the randomness of a guest.
    pub(crate) fn surround(&self, wasi: &mut WasiCtxBuilder) {
        let clock = GuestClock::new(self.clock, self.time.clone());
        wasi.wall_clock(clock.clone()).monotonic_clock(clock);
        if let Some(seed) = self.seed {
            random::seed(wasi, seed);
        }
    }
}
