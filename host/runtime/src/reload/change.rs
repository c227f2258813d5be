//! One change of the catalog: how it is recorded, and how whoever asked for the look hears of it.

use super::reloaded::Reloaded;
use crate::audit::{AuditError, Kind};
use crate::catalog::file;
use crate::inner::Inner;
use crate::text::{cut, hex};
use portcullis_policy::PluginName;
use serde::Serialize;
use std::sync::Arc;

/// Bytes of a refusal's reason that the record keeps.
const REASON_BYTES_MAX: usize = 2048;

/// One change.
pub(super) struct Change {
    pub(super) what: What,
    pub(super) file: String,
    pub(super) sha256: Option<[u8; 32]>,
    /// The plugin that gives way, by its hash in hexadecimal.
    pub(super) previous: Option<Arc<str>>,
    /// Of its description files; zeros where it has none.
    pub(super) beside: [u8; 32],
    pub(super) reason: Option<String>,
}

/// What it is.
pub(super) enum What {
    Added(PluginName),
    Replaced(PluginName),
    Removed(PluginName),
    Refused,
    Cleared,
}

/// All changes of one look.
pub(super) fn summed_up(changes: Vec<Change>) -> Reloaded {
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

impl Change {
    /// A change that says no more than that.
    pub(super) fn new(what: What, file: String, sha256: Option<[u8; 32]>) -> Self {
        Self { what, file, sha256, previous: None, beside: <[u8; 32]>::default(), reason: None }
    }

    /// Puts it into the record: before it takes effect.
    pub(super) async fn record(&self, host: &Inner) -> Result<(), AuditError> {
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
