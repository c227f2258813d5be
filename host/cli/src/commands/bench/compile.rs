//! Compilation without cached code, in a process of its own, as hosts compile. It includes the plugin's description.

use portcullis::Compiler;
use portcullis::plugins::{Engine, EngineConfig, LoadError, Loaded, Manifest};
use portcullis::policy::Limits;
use std::time::{Duration, Instant};

/// Maximum compilations. They vary less than calls.
const COMPILATIONS_MAX: usize = 10;

/// Compiles a plugin until the time is over, at least once. Returns its manifest and the times.
///
/// # Errors
/// The engine cannot start. The inner error says why the plugin does not load.
pub(super) async fn measure(
    name: &str,
    bytes: &[u8],
    budget: Duration,
) -> anyhow::Result<Result<(Manifest, Vec<Duration>), LoadError>> {
    let engine = Engine::new(&EngineConfig { calls: 1, largest: Limits::default(), store_value_bytes: 0 })?;
    let (measured, mut times) = (Instant::now(), Vec::new());
    loop {
        let began = Instant::now();
        let loaded = match Loaded::load(name, bytes, &engine, &Compiler::default(), None).await {
            Ok(loaded) => loaded,
            Err(error) => return Ok(Err(error)),
        };
        times.push(began.elapsed());
        if times.len() >= COMPILATIONS_MAX || measured.elapsed() >= budget {
            return Ok(Ok((loaded.manifest, times)));
        }
    }
}
