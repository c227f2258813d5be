//! The index of a plugin directory: what each file was when its bytes were last read and hashed. It is a sealed entry
//! of the cache.
//!
//! An entry counts only for a file with the same identity, which includes the time of the last status change. That
//! time cannot be set. A file is only entered if its identity was old enough when its bytes were read that every later
//! write must change it ([`STAMP_GRAIN`](super::file::STAMP_GRAIN)). What an entry says is what the cache says about
//! the same bytes, so it depends on the same things: the engine, the version of the host and the program. Anything
//! wrong with an index only costs the time to read the files.

use super::file::{self, FileIdentity, Sighting};
use super::plugin::Plugin;
use cap_std::fs::Dir;
use portcullis_definitions::manifest::Manifest;
use portcullis_sandbox::{CodeStore, Contract, Entry, Fetched, Surface};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The running program. Another build may check manifests differently without having another version.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The files of one directory, by name. The entries are parsed when they are needed, because a call needs only one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CatalogIndex {
    files: BTreeMap<String, Vec<u8>>,
}

/// A file as it was when its bytes were read.
#[derive(Serialize, Deserialize)]
pub(super) struct IndexedFile {
    identity: FileIdentity,
    pub(super) sha256: [u8; 32],
    pub(super) content: IndexedContent,
}

/// What the bytes of a file are.
#[derive(Serialize, Deserialize)]
pub(super) enum IndexedContent {
    Plugin(Box<IndexedPlugin>),
    /// No plugin. The cache has the reason, and says how long it applies.
    Refused,
}

/// What a plugin says about itself.
#[derive(Serialize, Deserialize)]
pub(super) struct IndexedPlugin {
    pub(super) outline: PluginOutline,
    pub(super) manifest: Manifest,
}

/// What the imports and exports of a plugin say.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct PluginOutline {
    contract: String,
    imports: Vec<String>,
    reviews: bool,
    previews: bool,
    generates: bool,
    prepares: bool,
}

/// A file whose bytes were read by this host, for the index.
pub(crate) struct ReadFile {
    pub(crate) file: String,
    pub(crate) sighting: Sighting,
    /// `None` if it was refused after it was compiled or described.
    pub(crate) outline: Option<PluginOutline>,
}

impl PluginOutline {
    /// Returns the outline of a loaded plugin. `None` if it is no component.
    pub(crate) fn of(plugin: &Plugin) -> Option<Self> {
        let &Plugin { reviews, previews, generates, prepares, .. } = plugin;
        let (contract, imports) = (plugin.contract?.as_str().to_owned(), plugin.imports.clone());
        Some(Self { contract, imports, reviews, previews, generates, prepares })
    }

    pub(super) fn contract(&self) -> Option<Contract> {
        Contract::ALL.into_iter().find(|contract| contract.as_str() == self.contract)
    }

    pub(super) fn into_surface(self) -> Surface {
        let Self { imports, reviews, previews, generates, prepares, .. } = self;
        Surface { imports, reviews, previews, generates, prepares }
    }
}

impl CatalogIndex {
    /// Reads the index of a directory. An index that is not there is empty.
    ///
    /// # Errors
    /// There is one that was not written by this host, with the reason.
    pub(super) fn read(store: &CodeStore, directory: &Dir) -> Result<Self, &'static str> {
        let Some(id) = id(directory) else { return Ok(Self::default()) };
        match store.fetch(Entry::Index, &id) {
            Fetched::Hit(bytes) => Ok(Self::decode(&bytes)),
            Fetched::Miss => Ok(Self::default()),
            Fetched::Rejected(reason) => Err(reason),
        }
    }

    /// Returns the size of a directory's index, in bytes. Zero if there is none.
    pub(super) fn bytes(store: &CodeStore, directory: &Dir) -> u64 {
        id(directory).map_or(0, |id| store.entry_bytes(Entry::Index, &id))
    }

    /// Writes the index of a directory in one step. If that fails, the next host reads the files.
    pub(super) fn write(&self, store: &CodeStore, directory: &Dir) {
        if let Some(id) = id(directory) {
            let _ = store.put(Entry::Index, &id, &self.encode());
        }
    }

    /// Returns what a file is, if it has this identity.
    pub(super) fn get(&self, file: &str, identity: &FileIdentity) -> Option<IndexedFile> {
        let indexed: IndexedFile = serde_json::from_slice(self.files.get(file)?).ok()?;
        (indexed.identity == *identity).then_some(indexed)
    }

    /// Returns whether the index has an entry for a file, of whatever identity.
    pub(super) fn names(&self, file: &str) -> bool {
        self.files.contains_key(file)
    }

    /// Removes the files that are not in the directory any more.
    pub(super) fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        self.files.retain(|file, _| is_there(file));
    }

    /// Removes a file.
    pub(super) fn forget(&mut self, file: &str) {
        self.files.remove(file);
    }

    /// Enters a file that was read, unless a later write could leave it with the same identity.
    pub(super) fn enter(&mut self, store: &CodeStore, read: ReadFile) {
        // Other names are refused before they are read. A name with a line end would be two lines.
        if !read.sighting.settled || file::plugin_name(&read.file).is_err() {
            return;
        }
        let sha256 = read.sighting.sha256;
        let content = match read.outline {
            Some(outline) => {
                // Without its description, the next host could not restore the plugin.
                let Fetched::Hit(manifest) = store.fetch(Entry::Manifest, &sha256) else { return };
                let Ok(manifest) = serde_json::from_slice(&manifest) else { return };
                IndexedContent::Plugin(Box::new(IndexedPlugin { outline, manifest }))
            }
            None => IndexedContent::Refused,
        };
        let identity = read.sighting.stamp.without_companions();
        if let Ok(indexed) = serde_json::to_vec(&IndexedFile { identity, sha256, content }) {
            self.files.insert(read.file, indexed);
        }
    }

    /// Returns the lines of the index: for each file its name, and what it is as JSON, which has no line ends.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (file, indexed) in &self.files {
            for line in [file.as_bytes(), indexed] {
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
            }
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        // The store has checked the MAC, so these are the bytes of `encode`.
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let mut files = BTreeMap::new();
        while let (Some(file), Some(indexed)) = (lines.next(), lines.next()) {
            files.insert(String::from_utf8_lossy(file).into_owned(), indexed.to_owned());
        }
        Self { files }
    }
}

/// Returns the id of a directory's index: a digest of the directory and of the running program. The store adds the
/// engine and the version of the host. `None` if the system does not tell, and then there is no index.
fn id(directory: &Dir) -> Option<[u8; 32]> {
    let directory = rustix::fs::fstat(directory).ok()?;
    let program = FileIdentity::of(&rustix::fs::stat(OWN_PROGRAM).ok()?);
    let bound = serde_json::to_vec(&(directory.st_dev, directory.st_ino, program)).ok()?;
    Some(Sha256::digest(bound).into())
}
