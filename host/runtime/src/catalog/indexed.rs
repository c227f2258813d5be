//! Loads plugins from the indexes of their directories, without their bytes.

use super::beside::Beside;
use super::file::{self, Sighting};
use super::index::{CatalogIndex, IndexedContent, IndexedFile, IndexedPlugin, PluginOutline, ReadFile};
use super::listing::{self, ListedFile};
use super::load::PluginParts;
use super::load_error::LoadError;
use super::loader::{Loader, blocking, on_all_cores};
use super::plugin::Plugin;
use super::refusal;
use crate::audit::AuditError;
use cap_std::fs::Dir;
use portcullis_definitions::definition;
use portcullis_sandbox::CodeStore;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A file of a plugin directory and the result of loading it: a plugin, or `None` if it still loads in the background.
pub(super) struct LoadedFile {
    pub(super) file: String,
    pub(super) directory: Arc<Dir>,
    pub(super) sighting: Option<Sighting>,
    pub(super) loaded: Result<Option<Plugin>, LoadError>,
}

impl LoadedFile {
    /// Returns what the index of the directory can have of a file that was read.
    pub(super) fn for_index(&self) -> Option<ReadFile> {
        let (file, sighting) = (self.file.clone(), self.sighting?);
        let outline = match &self.loaded {
            Ok(plugin) => Some(PluginOutline::of(plugin.as_ref()?)?),
            Err(error) if refusal::is_remembered(error) => None,
            // Any other error may be gone when the next host opens.
            Err(_) => return None,
        };
        Some(ReadFile { file, sighting, outline })
    }
}

/// The result of looking for a file in the index of its directory.
pub(super) enum IndexedLook {
    /// The file is unchanged, so it was not read.
    Known(Box<LoadedFile>),
    /// The file has to be read.
    Unknown(ListedFile),
    /// The file has to be read, because that costs less than reading the index.
    NotLooked(ListedFile),
}

/// The indexes of the directories that a list of files is from.
struct Indexes {
    indexes: Vec<(Arc<Dir>, CatalogIndex)>,
    /// Why some could not be trusted.
    rejected: Vec<&'static str>,
}

impl Indexes {
    fn of(loader: &Loader, files: &[ListedFile]) -> Self {
        let mut read = Self { indexes: Vec::new(), rejected: Vec::new() };
        for listed in files {
            if read.index(&listed.directory).is_none() {
                let index = CatalogIndex::read(&loader.store, &listed.directory);
                read.rejected.extend(index.as_ref().err());
                // A rejected index counts as empty, so its files are read.
                read.indexes.push((Arc::clone(&listed.directory), index.unwrap_or_default()));
            }
        }
        read
    }

    fn index(&self, directory: &Arc<Dir>) -> Option<&CatalogIndex> {
        // All files of a directory share one handle.
        self.indexes.iter().find(|(known, _)| Arc::ptr_eq(known, directory)).map(|(_, index)| index)
    }
}

/// Maximum files of which a host compares the size with that of their index. A call needs one or two.
const FEW_FILES_MAX: usize = 8;

/// Size up to which an index is always read, in bytes. That takes less than a millisecond.
const SMALL_INDEX_BYTES_MAX: u64 = 256 * 1024;

/// Returns whether a few files are smaller than the indexes of their directories.
fn are_smaller_than_indexes(store: &CodeStore, files: &[ListedFile]) -> bool {
    if files.len() > FEW_FILES_MAX {
        return false;
    }
    let mut directories: Vec<&Arc<Dir>> = Vec::new();
    for listed in files {
        // All files of a directory share one handle.
        if directories.iter().all(|known| !Arc::ptr_eq(known, &listed.directory)) {
            directories.push(&listed.directory);
        }
    }
    let index_bytes: u64 = directories.into_iter().map(|directory| CatalogIndex::bytes(store, directory)).sum();
    let bytes = |listed: &ListedFile| file::identity(&listed.directory, &listed.file).map_or(0, |found| found.bytes());
    index_bytes > SMALL_INDEX_BYTES_MAX && index_bytes > files.iter().map(bytes).sum()
}

/// Puts the files that have to be read in the order of their sizes. They may have to be compiled, and if the largest
/// one is compiled last, the other cores wait for it.
fn largest_first(looked: &mut [IndexedLook]) {
    let bytes = |listed: &ListedFile| file::identity(&listed.directory, &listed.file).map_or(0, |found| found.bytes());
    looked.sort_by_cached_key(|look| match look {
        IndexedLook::Known(_) => Reverse(0),
        IndexedLook::Unknown(listed) | IndexedLook::NotLooked(listed) => Reverse(bytes(listed)),
    });
}

impl Loader {
    /// Looks for files in the indexes of their directories, on all cores. Returns those that have to be read with the
    /// largest first. Records indexes that cannot be trusted.
    pub(super) async fn look_in_indexes(
        self: &Arc<Self>,
        files: Vec<ListedFile>,
    ) -> Result<Vec<IndexedLook>, LoadError> {
        let loader = Arc::clone(self);
        let look = move || {
            if are_smaller_than_indexes(&loader.store, &files) {
                return Ok((files.into_iter().map(IndexedLook::NotLooked).collect(), Vec::new()));
            }
            let Indexes { indexes, rejected } = Indexes::of(&loader, &files);
            let read = Indexes { indexes, rejected: Vec::new() };
            let mut looked = on_all_cores(files, |listed| match loader.look_in_index(&listed, &read) {
                Some(known) => IndexedLook::Known(Box::new(known)),
                None => IndexedLook::Unknown(listed),
            });
            largest_first(&mut looked);
            Ok((looked, rejected))
        };
        let (looked, rejected) = blocking(look).await?;
        for reason in rejected {
            self.note_index(reason).await?;
        }
        Ok(looked)
    }

    async fn note_index(&self, reason: &str) -> Result<(), AuditError> {
        self.note_cache("(index)", None, &format!("cached index not used: {reason}")).await
    }

    /// Returns what a file is, if its directory's index has it and it is unchanged.
    fn look_in_index(&self, listed: &ListedFile, indexes: &Indexes) -> Option<LoadedFile> {
        let (beside, index) = (listed.beside.as_ref().ok()?, indexes.index(&listed.directory)?);
        if !index.names(&listed.file) {
            return None;
        }
        let identity = file::identity(&listed.directory, &listed.file).ok()?;
        let IndexedFile { sha256, content, .. } = index.get(&listed.file, &identity)?;
        // Only settled files are entered into an index.
        let sighting = Sighting { stamp: identity.with(beside.sha256), sha256, settled: true };
        let loaded = match content {
            IndexedContent::Plugin(plugin) => Ok(Some(self.restored(&listed.file, *plugin, &sighting, beside)?)),
            IndexedContent::Refused => Err(self.refusal_in_force(&sighting)?),
        };
        let (file, directory) = (listed.file.clone(), Arc::clone(&listed.directory));
        Some(LoadedFile { file, directory, sighting: Some(sighting), loaded })
    }

    /// Returns the plugin that an index describes.
    fn restored(&self, file: &str, plugin: IndexedPlugin, sighting: &Sighting, beside: &Beside) -> Option<Plugin> {
        let IndexedPlugin { outline, manifest } = plugin;
        let (name, contract) = (file::plugin_name(file).ok()?, outline.contract()?);
        let checked = definition::restore(&name, &manifest).ok()?;
        let (sha256, beside) = (sighting.sha256, beside.clone());
        let parts =
            PluginParts { sha256, bytes: sighting.stamp.bytes(), beside, contract, surface: outline.into_surface() };
        Some(parts.into_plugin(name, file, manifest, checked, None).used_in(&self.store))
    }

    /// Enters files that were read into the index of their directory, and removes the `altered` ones from it. Reads the
    /// index again, because other hosts write it too. Blocks.
    pub(crate) fn keep_index(&self, directory: &Arc<Dir>, read: Vec<ReadFile>, altered: &[String]) {
        // An index that cannot be trusted is replaced as a whole.
        let before = CatalogIndex::read(&self.store, directory).unwrap_or_default();
        let mut index = before.clone();
        if let Ok(files) = file::list(directory, listing::is_ours) {
            let files: BTreeSet<String> = files.into_iter().collect();
            index.keep(|file| files.contains(file));
        }
        read.into_iter().for_each(|read| index.enter(&self.store, read));
        altered.iter().for_each(|file| index.forget(file));
        if index != before {
            index.write(&self.store, directory);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directory")]
mod tests {
    use super::*;
    use crate::places::OwnPlace;
    use std::fs;

    #[test]
    fn files_that_have_to_be_read_are_sorted_by_size() {
        let root = std::env::temp_dir().join(format!("portcullis-largest-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        for (file, bytes) in [("a.wasm", 10), ("b.wasm", 3000), ("c.wasm", 200)] {
            fs::write(root.join(file), vec![0; bytes]).unwrap();
        }
        let place = OwnPlace::if_exists("the plugin directory", &root).unwrap();
        let listed = listing::list_all(&[place]).unwrap();
        let mut looked: Vec<IndexedLook> = listed.into_iter().map(IndexedLook::Unknown).collect();
        largest_first(&mut looked);
        let files: Vec<&str> = looked
            .iter()
            .filter_map(|look| match look {
                IndexedLook::Unknown(listed) => Some(listed.file.as_str()),
                IndexedLook::Known(_) | IndexedLook::NotLooked(_) => None,
            })
            .collect();
        assert_eq!(files, ["b.wasm", "c.wasm", "a.wasm"]);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_few_files_are_compared_with_the_indexes_of_all_their_directories() {
        let root = std::env::temp_dir().join(format!("portcullis-smaller-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for directory in ["user", "project", "cache"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("user/a.wasm"), [0_u8; 10]).unwrap();
        fs::write(root.join("project/b.wasm"), [0_u8; 10]).unwrap();
        let open = |name: &str| OwnPlace::if_exists("the plugin directory", &root.join(name)).unwrap();
        let cache = open("cache").directory.unwrap().try_clone().unwrap();
        let store = CodeStore::new(cache, &[0; 32], Some([0; 32]));
        let listed = listing::list_all(&[open("user"), open("project")]).unwrap();
        assert!(!are_smaller_than_indexes(&store, &listed), "there are no indexes");
        // Only the second directory has an index, which is large.
        let project = &listed[1];
        let stamp = file::identity(&project.directory, &project.file).unwrap();
        let sighting = Sighting { stamp, sha256: [0; 32], settled: true };
        let mut index = CatalogIndex::default();
        let mut number = 0;
        while CatalogIndex::bytes(&store, &project.directory) <= SMALL_INDEX_BYTES_MAX {
            for _ in 0..1000 {
                number += 1;
                index.enter(&store, ReadFile { file: format!("p{number}.wasm"), sighting, outline: None });
            }
            assert!(number <= 100_000, "the index does not grow");
            index.write(&store, &project.directory);
        }
        assert!(are_smaller_than_indexes(&store, &listed));
        assert!(!are_smaller_than_indexes(&store, &listed[..1]), "the first directory has no index");
        let many: Vec<ListedFile> =
            (0..=FEW_FILES_MAX).flat_map(|_| listing::list_all(&[open("project")]).unwrap()).collect();
        assert!(!are_smaller_than_indexes(&store, &many), "the files are too many to be compared");
        fs::remove_dir_all(&root).unwrap();
    }
}
