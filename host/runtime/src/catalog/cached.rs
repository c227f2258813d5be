//! The cache of plugins' code and descriptions, each under a seal. It lasts from one start to the next.

use super::load_error::LoadError;
use super::loader::{Loader, blocking};
use super::plugin_file::PluginBytes;
use crate::audit::{AuditError, Kind};
use crate::text::{WithCauses, cut, hex};
use portcullis_definitions::manifest::Manifest;
use portcullis_policy::PluginName;
use portcullis_sandbox::{Code, Entry, Fetched};
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
            Fetched::Rejected(reason) => {
                self.note(name, sha256, &format!("cached code not used: {reason}")).await?;
                Ok(None)
            }
        }
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
