//! The cache of plugins' code and descriptions, each under a seal. It lasts from one start to the next.

use super::code_cache::CodeCache;
use super::load_error::LoadError;
use super::loader::{Loader, blocking};
use super::plugin_file::PluginBytes;
use crate::audit::{AuditError, Kind};
use crate::text::{WithCauses, cut, hex};
use portcullis_definitions::manifest::Manifest;
use portcullis_policy::PluginName;
use portcullis_sandbox::{Artefact, Code, CodeStore, Engine, Entry, Fetched, StoreError};
use serde::Serialize;
use std::sync::Arc;

/// Maximum length of an audit event about the cache, in bytes.
const EVENT_BYTES_MAX: usize = 2048;

impl Loader {
    /// Returns the code of a plugin, if it is cached and fits this engine.
    pub(super) async fn cached_code(&self, name: &PluginName, sha256: &[u8; 32]) -> Result<Option<Code>, LoadError> {
        let (store, engine, plugin) = (Arc::clone(&self.store), self.engine.clone(), *sha256);
        let fetch = move || Ok(store.fetch_code(&plugin).map(|artefact| Code::load(&engine, &artefact)));
        let fetched = blocking(fetch).await?;
        match &fetched {
            Fetched::Hit(Ok(_)) => self.code_cache.hit(),
            Fetched::Hit(Err(_)) | Fetched::Miss | Fetched::Rejected(_) => self.code_cache.miss(),
        }
        match fetched {
            Fetched::Hit(Ok(code)) => Ok(Some(code)),
            Fetched::Hit(Err(error)) => {
                let event = format!("cached code not used: {}", WithCauses(&error));
                self.note(name, sha256, &event).await?;
                Ok(None)
            }
            Fetched::Miss => Ok(None),
            // Someone may have tampered with the cache. If that cannot be recorded, the plugin is refused.
            Fetched::Rejected(reason) => {
                self.note(name, sha256, &format!("cached code not used: {reason}")).await?;
                Ok(None)
            }
        }
    }

    /// Returns the code of a plugin that another command of the user has compiled, if it is valid and fits this engine.
    /// Keeps it in the cache of the host.
    pub(super) async fn examined_code(&self, content: &PluginBytes) -> Result<Option<Code>, LoadError> {
        let Some(directory) = &self.examined_code else { return Ok(None) };
        let (cache, engine) = (CodeCache::new(directory), self.engine.clone());
        let (store, plugin) = (Arc::clone(&self.store), content.sha256);
        let looking = cache.clone();
        // Usually there is none. Look first, so that a plugin without examined code does not wait for a slot.
        if !blocking(move || Ok(looking.has(&plugin))).await? {
            return Ok(None);
        }
        // Copying needs as much memory as the code, so it is limited as compilations are. The semaphore stays open.
        let _slot = self.slots.compilations.acquire().await;
        let take = move || {
            let taken = cache.fetch(&engine, &plugin);
            // The host's own cache is optional.
            Ok(taken.map(|(artefact, code)| keep_code(&store, &engine, &plugin, &artefact, code).0))
        };
        blocking(take).await
    }

    /// Caches a description. If that fails, the next start asks the plugin again.
    pub(super) async fn keep_manifest(&self, content: &PluginBytes, manifest: &Manifest) {
        let Ok(bytes) = serde_json::to_vec(manifest) else { return };
        let (store, plugin) = (Arc::clone(&self.store), content.sha256);
        let kept = move || {
            let _ = store.put(Entry::Manifest, &plugin, &bytes);
            Ok(())
        };
        let _ = blocking(kept).await;
    }

    /// Records that the cache could not be trusted or used.
    pub(crate) async fn note(&self, plugin: &PluginName, sha256: &[u8; 32], event: &str) -> Result<(), AuditError> {
        self.note_cache(plugin.as_str(), Some(sha256), event).await
    }

    /// Records the same for a part of the cache that may belong to no plugin.
    pub(super) async fn note_cache(
        &self,
        plugin: &str,
        sha256: Option<&[u8; 32]>,
        event: &str,
    ) -> Result<(), AuditError> {
        #[derive(Serialize)]
        struct Note<'a> {
            plugin: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            sha256: Option<String>,
            event: &'a str,
        }
        let sha256 = sha256.map(|sha256| hex(sha256));
        let note = Note { plugin, sha256, event: cut(event, EVENT_BYTES_MAX) };
        self.audit.write(Kind::Plugin, None::<&()>, &note).await
    }
}

/// Puts the code of a plugin into the cache. Returns it as mapped from the cache, if it can be: its memory is then
/// shared with other hosts, and can be dropped while it is not in use.
pub(super) fn keep_code(
    store: &CodeStore,
    engine: &Engine,
    plugin: &[u8; 32],
    artefact: &Artefact,
    code: Code,
) -> (Code, Result<(), StoreError>) {
    let kept = store.put_code(plugin, artefact);
    let mapped = match store.fetch_code(plugin) {
        // Small code is read into memory. Loading it again would share nothing.
        Fetched::Hit(artefact) if artefact.is_in_file() => Code::load(engine, &artefact).ok(),
        Fetched::Hit(_) | Fetched::Miss | Fetched::Rejected(_) => None,
    };
    (mapped.unwrap_or(code), kept)
}
