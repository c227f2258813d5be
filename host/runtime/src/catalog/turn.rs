//! Compiles a plugin once when several processes need its code at the same time, such as the servers of two MCP clients
//! that start together.

use super::load_error::LoadError;
use super::loader::blocking;
use portcullis_sandbox::{COMPILE_TIME_MAX, Code, CodeStore, CompileTurn, Engine, Fetched};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a host looks whether another process has compiled a plugin. The smallest plugin takes about as long.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// What to do about a plugin whose code is not in the cache.
pub(super) enum Turn {
    /// Compile it. Other processes wait until the turn is dropped. There is none if the cache cannot be used, or if
    /// another process keeps its turn for longer than a compilation may take.
    Own(Option<CompileTurn>),
    /// Nothing: another process has compiled it meanwhile.
    Over(Code),
}

/// Waits until no other process compiles a plugin. A process that dies loses its turn. One that was stopped does not,
/// so the wait is limited.
pub(super) async fn turn(store: &Arc<CodeStore>, engine: &Engine, plugin: &[u8; 32]) -> Result<Turn, LoadError> {
    let latest = Instant::now() + COMPILE_TIME_MAX;
    while Instant::now() < latest {
        let (store, engine, plugin) = (Arc::clone(store), engine.clone(), *plugin);
        let look = move || {
            Ok(match store.try_turn(&plugin) {
                Ok(Some(turn)) => Some(match store.fetch_code(&plugin) {
                    Fetched::Hit(artefact) => match Code::load(&engine, &artefact) {
                        Ok(code) => Turn::Over(code),
                        Err(_) => Turn::Own(Some(turn)),
                    },
                    Fetched::Miss | Fetched::Rejected(_) => Turn::Own(Some(turn)),
                }),
                Ok(None) => None,
                Err(_) => Some(Turn::Own(None)),
            })
        };
        if let Some(turn) = blocking(look).await? {
            return Ok(turn);
        }
        sleep(LOOK_INTERVAL).await;
    }
    Ok(Turn::Own(None))
}
