//! A change of the catalog, for the audit log and for the caller of a reload.

use super::reloaded::Reloaded;
use crate::audit::{AuditError, Kind};
use crate::catalog::file;
use crate::inner::HostState;
use crate::text::{cut, hex};
use portcullis_policy::PluginName;
use serde::Serialize;
use std::sync::Arc;

/// Maximum length of a refusal's reason in the audit log, in bytes.
const REASON_BYTES_MAX: usize = 2048;

/// One change of the catalog.
pub(super) struct CatalogChange {
    pub(super) what: What,
    pub(super) file: String,
    pub(super) sha256: Option<[u8; 32]>,
    /// The hash of the replaced plugin, in hexadecimal.
    pub(super) previous: Option<Arc<str>>,
    /// The hash of its description files. Zeros if it has none.
    pub(super) beside: [u8; 32],
    pub(super) reason: Option<String>,
}

/// The kind of a change.
pub(super) enum What {
    Added(PluginName),
    Replaced(PluginName),
    Removed(PluginName),
    Refused,
    Cleared,
}

/// Sums up all changes of one reload.
pub(super) fn summed_up(changes: Vec<CatalogChange>) -> Reloaded {
    let mut reloaded = Reloaded::default();
    for change in changes {
        match change.what {
            What::Added(name) => reloaded.added.push(name),
            What::Replaced(name) => reloaded.replaced.push(name),
            What::Removed(name) => reloaded.removed.push(name),
            What::Refused => reloaded.refused.push(change.file),
            What::Cleared => reloaded.cleared.push(change.file),
        }
    }
    reloaded
}

impl CatalogChange {
    /// Creates a change without details.
    pub(super) fn new(what: What, file: String, sha256: Option<[u8; 32]>) -> Self {
        Self { what, file, sha256, previous: None, beside: <[u8; 32]>::default(), reason: None }
    }

    /// Records the change. Call this before it takes effect.
    pub(super) async fn record(&self, host: &HostState) -> Result<(), AuditError> {
        #[derive(Serialize)]
        struct Line<'a> {
            plugin: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            sha256: Option<String>,
            event: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            previous_sha256: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            descriptions_sha256: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<&'a str>,
        }
        let event = match self.what {
            What::Added(_) => "added",
            What::Replaced(_) => "replaced",
            What::Removed(_) => "removed",
            What::Refused => "refused",
            What::Cleared => "no longer refused",
        };
        let line = Line {
            plugin: self.file.strip_suffix(file::EXTENSION).unwrap_or(&self.file),
            sha256: self.sha256.as_ref().map(|sha256| hex(sha256)),
            event,
            previous_sha256: self.previous.as_deref(),
            descriptions_sha256: (self.beside != <[u8; 32]>::default()).then(|| hex(&self.beside)),
            reason: self.reason.as_deref().map(|reason| cut(reason, REASON_BYTES_MAX)),
        };
        host.audit.write(Kind::Plugin, None::<&()>, &line).await
    }
}
