//! A cache of compiled code outside of a state directory, for commands that examine a component without a host. A host
//! takes from it what its own cache does not have.
//!
//! Each component has a directory that is laid out like a state directory: a key, and the entries that the key seals.
//! So code from it runs only if its MAC is valid.

use super::load_error::LoadError;
use super::loader::blocking;
use crate::places::{self, HostDirectories};
use crate::text::hex;
use portcullis_sandbox::{Artefact, Code, CodeStore, Compiler, Engine, Fetched};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// A directory for the compiled code of components. It holds the keys of its entries, so no plugin may have access to
/// it.
#[derive(Clone, Debug)]
pub struct CodeCache {
    directory: PathBuf,
}

impl CodeCache {
    /// Creates a cache in a directory. The first component creates it, for this user alone.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the directory of a component's code. It need not exist.
    pub fn directory_of(&self, component: &[u8]) -> PathBuf {
        self.entry(&Sha256::digest(component).into())
    }

    /// Returns the directory of the component with this digest.
    fn entry(&self, plugin: &[u8; 32]) -> PathBuf {
        self.directory.join(hex(plugin))
    }

    /// Maps the code of a component that has passed the checks before compiling. Compiles it if it is not cached.
    ///
    /// # Errors
    /// The component cannot be compiled. A cache that cannot be used is no error.
    pub(super) async fn code(
        &self,
        bytes: &[u8],
        engine: &Engine,
        compiler: &Compiler,
    ) -> Result<(Artefact, Code), LoadError> {
        let plugin: [u8; 32] = Sha256::digest(bytes).into();
        let (cache, fetching) = (self.clone(), engine.clone());
        if let Some(cached) = blocking(move || Ok(cache.fetch(&fetching, &plugin))).await? {
            return Ok(cached);
        }
        let artefact = compiler.compile(bytes).await?;
        let (cache, engine) = (self.clone(), engine.clone());
        let map_and_keep = move || {
            let code = Code::load(&engine, &artefact)?;
            cache.keep(&engine, &plugin, &artefact);
            Ok((artefact, code))
        };
        blocking(map_and_keep).await
    }

    /// Returns whether there may be code of a component.
    pub(super) fn has(&self, plugin: &[u8; 32]) -> bool {
        places::stamp(&self.entry(plugin)).is_some()
    }

    /// Returns the code of a component, if there is code with a valid MAC that fits this engine.
    pub(super) fn fetch(&self, engine: &Engine, plugin: &[u8; 32]) -> Option<(Artefact, Code)> {
        // Do not create the directory of a component that may turn out to be refused.
        if !self.has(plugin) {
            return None;
        }
        match self.store(engine, plugin)?.fetch_code(plugin) {
            Fetched::Hit(artefact) => Code::load(engine, &artefact).ok().map(|code| (artefact, code)),
            Fetched::Miss | Fetched::Rejected(_) => None,
        }
    }

    /// Keeps the code of a component. Ignores errors, because the cache is optional.
    fn keep(&self, engine: &Engine, plugin: &[u8; 32], artefact: &Artefact) {
        let _ = self.store(engine, plugin).map(|store| store.put_code(plugin, artefact));
    }

    /// Opens the directory of a component, or returns `None` if other users could change it.
    fn store(&self, engine: &Engine, plugin: &[u8; 32]) -> Option<CodeStore> {
        let HostDirectories { cache, key, .. } = HostDirectories::open(&self.entry(plugin).into()).ok()?;
        Some(CodeStore::new(cache, &key, engine.fingerprint()))
    }
}
