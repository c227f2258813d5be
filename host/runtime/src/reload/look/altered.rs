//! A file whose bytes changed although its identity did not.

use super::ReloadLook;
use crate::catalog::LoadError;
use crate::catalog::file::{self, Sighting};
use std::sync::Arc;

impl ReloadLook<'_> {
    /// Refuses a file whose bytes changed although its identity did not, and removes its plugin. It stays refused until
    /// the file is touched.
    pub(in crate::reload) fn quarantine(&mut self, file: &str, known: Sighting, found: [u8; 32]) {
        let name = file::plugin_name(file).ok();
        let name = name.filter(|name| self.next.plugins.get(name).is_some_and(|plugin| plugin.file == file));
        name.map(|name| self.next.plugins.remove(&name));
        self.note_refusal(file.to_owned(), Some(found), Arc::new(LoadError::Altered));
        // Until its identity changes, a reload does not read it.
        self.seen.insert(file.to_owned(), Sighting { sha256: found, ..known });
    }
}
