//! Compiles a plugin once when several processes need its code at the same time, such as the servers of two MCP clients
//! that start together.

use super::load_error::LoadError;
use super::loader::{Loader, blocking};
use super::plugin_file::PluginBytes;
use portcullis_sandbox::{Artefact, COMPILE_TIME_MAX, Code, CodeStore, CompileTurn, Engine, Fetched};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a host looks whether another process has compiled a plugin. The smallest plugin takes about as long.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The code of a plugin that was not in the cache.
pub(super) enum Compiled {
    /// This process has compiled it. Others wait until the turn is dropped. There is no turn if the cache cannot be
    /// used, or if another process keeps it for longer than a compilation may take.
    Here(Artefact, Option<CompileTurn>),
    /// Another process has compiled it and put it into the cache.
    Elsewhere(Code),
}

impl Loader {
    /// Compiles a plugin, unless another process does so meanwhile. A process that dies loses its turn. One that was
    /// stopped does not, so the wait for it is limited.
    pub(super) async fn compile_in_turn(&self, content: &PluginBytes) -> Result<Compiled, LoadError> {
        let latest = Instant::now() + COMPILE_TIME_MAX;
        let turn = loop {
            let (store, engine, plugin) = (Arc::clone(&self.store), self.engine.clone(), content.sha256);
            match blocking(move || Ok(look(&store, &engine, &plugin))).await? {
                Look::Own(turn) => break turn,
                Look::Over(code) => return Ok(Compiled::Elsewhere(code)),
                Look::OfAnother if Instant::now() > latest => break None,
                Look::OfAnother => sleep(LOOK_INTERVAL).await,
            }
        };
        Ok(Compiled::Here(self.compiler.compile(&content.bytes).await?, turn))
    }
}

/// Whose turn it is to compile a plugin.
enum Look {
    Own(Option<CompileTurn>),
    OfAnother,
    /// No turn is needed: the code is in the cache.
    Over(Code),
}

fn look(store: &CodeStore, engine: &Engine, plugin: &[u8; 32]) -> Look {
    let turn = match store.try_turn(plugin) {
        Ok(None) => return Look::OfAnother,
        Ok(turn) => turn,
        // The cache is optional.
        Err(_) => None,
    };
    // Look only after taking the turn. The process that had it before may just have put the code there.
    match store.fetch_code(plugin) {
        Fetched::Hit(artefact) => Code::load(engine, &artefact).map_or(Look::Own(turn), Look::Over),
        Fetched::Miss | Fetched::Rejected(_) => Look::Own(turn),
    }
}
