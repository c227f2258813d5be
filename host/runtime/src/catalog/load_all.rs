//! Loads the plugin directories when a host opens.

use super::background::BackgroundLoads;
use super::contents::{Catalog, RefusedPlugin};
use super::file::{FileError, Seen};
use super::index::ReadFile;
use super::indexed::{IndexedLook, LoadedFile};
use super::listing::{self, ListedFile};
use super::load::read;
use super::load_error::LoadError;
use super::loader::{Loader, blocking, compilations};
use super::plugin::Plugin;
use super::wanted::Wanted;
use crate::policy_in_force::PolicyInForce;
use cap_std::fs::Dir;
use std::io;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The files of a list as they are loaded, and those of them that were read.
struct Loading<'a> {
    catalog: &'a mut Catalog,
    seen: &'a mut Seen,
    read: Vec<(Arc<Dir>, ReadFile)>,
}

impl Loading<'_> {
    fn put(&mut self, loaded: LoadedFile) {
        let LoadedFile { file, sighting, loaded, .. } = loaded;
        self.seen.extend(sighting.map(|sighting| (file.clone(), sighting)));
        match loaded {
            Ok(Some(plugin)) => drop(self.catalog.plugins.insert(plugin.name.clone(), Arc::new(plugin))),
            Ok(None) => {}
            Err(error) => self.catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) }),
        }
    }
}

impl Loader {
    /// Loads the plugins of the directories, several at a time: all, or those that a call of one tool needs. A plugin
    /// that is refused does not keep others from loading. With `background`, the plugins that have to be compiled only
    /// begin to load. The catalog begins with `standard`, the plugins of the host's own tools. The servers of the
    /// policy are in it without their tools.
    pub(crate) async fn load_all(
        self: &Arc<Self>,
        policy: &Arc<PolicyInForce>,
        standard: &[Arc<Plugin>],
        only_for: Option<&str>,
        background: Option<&Arc<BackgroundLoads>>,
    ) -> Result<(Catalog, Seen), LoadError> {
        let (mut catalog, mut seen) = (Catalog::under(policy, standard), Seen::new());
        let held = self.plugins.held();
        let listed = blocking(move || {
            let listed = listing::list_all(&held);
            Ok(listed.map_err(|error| FileError::Io(io::Error::other(error)))?)
        });
        let mut listed = listed.await?;
        let wanted = only_for.map_or_else(Wanted::default, |tool| Wanted::by_call(tool, &policy.policy, &listed));
        catalog.left_out = wanted.leave_out(&mut listed);
        let read = self.load_listed(listed, (&mut catalog, &mut seen), background).await?;
        self.keep_indexes(read).await;
        self.add_servers(&mut catalog, &policy.policy, &wanted);
        Ok((catalog, seen))
    }

    /// Loads files into a catalog. Returns those that were read, because no index has them.
    async fn load_listed(
        self: &Arc<Self>,
        listed: Vec<ListedFile>,
        (catalog, seen): (&mut Catalog, &mut Seen),
        background: Option<&Arc<BackgroundLoads>>,
    ) -> Result<Vec<(Arc<Dir>, ReadFile)>, LoadError> {
        let (total, mut unknown, mut done) = (listed.len(), Vec::new(), 0);
        let (mut into, mut skips_index) = (Loading { catalog, seen, read: Vec::new() }, false);
        for look in self.look_in_indexes(listed).await? {
            match look {
                IndexedLook::Known(loaded) => {
                    into.put(*loaded);
                    done += 1;
                }
                IndexedLook::Unknown(listed) => unknown.push(listed),
                IndexedLook::NotLooked(listed) => {
                    skips_index = true;
                    unknown.push(listed);
                }
            }
        }
        let (mut loading, mut unknown) = (JoinSet::new(), unknown.into_iter());
        loop {
            self.observer.advanced(done, total);
            // A file is in memory while it loads, so more files at a time would only cost memory.
            while loading.len() < compilations() {
                let Some(listed) = unknown.next() else { break };
                let (loader, background) = (Arc::clone(self), background.cloned());
                loading.spawn(async move { loader.load_file(listed, background).await });
            }
            let Some(loaded) = loading.join_next().await else { break };
            // `load` returns its panics, so a task fails only with the runtime.
            let loaded: LoadedFile = loaded.map_err(io::Error::other).map_err(FileError::Io)?;
            into.read.extend(loaded.for_index().map(|read| (Arc::clone(&loaded.directory), read)));
            into.put(loaded);
            done += 1;
        }
        // To enter a file into an index, the index is read.
        Ok(if skips_index { Vec::new() } else { into.read })
    }

    /// Enters files that were read into the indexes of their directories. Without them, the next host reads the files.
    async fn keep_indexes(self: &Arc<Self>, read: Vec<(Arc<Dir>, ReadFile)>) {
        let mut of_directories: Vec<(Arc<Dir>, Vec<ReadFile>)> = Vec::new();
        for (directory, read) in read.into_iter().filter(|(_, read)| read.sighting.settled) {
            match of_directories.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &directory)) {
                Some((_, files)) => files.push(read),
                None => of_directories.push((directory, vec![read])),
            }
        }
        if of_directories.is_empty() {
            return;
        }
        let loader = Arc::clone(self);
        let keep = move || {
            of_directories.into_iter().for_each(|(directory, read)| loader.keep_index(&directory, read, &[]));
            Ok(())
        };
        let _ = blocking(keep).await;
    }

    async fn load_file(
        &self,
        ListedFile { file, directory, beside }: ListedFile,
        background: Option<Arc<BackgroundLoads>>,
    ) -> LoadedFile {
        let read = match beside {
            Ok(beside) => read(&directory, &file, beside).await,
            Err(error) => Err(error),
        };
        match (read, background) {
            (Ok(content), None) => {
                let loaded = self.load(&file, &content).await.map(Some);
                LoadedFile { file, directory, sighting: Some(content.sighting), loaded }
            }
            (Ok(content), Some(background)) => {
                let loaded = background.load(&directory, &file, &content).await;
                // A file that loads in the background gets its sighting when it has loaded.
                let sighting = (!matches!(loaded, Ok(None))).then_some(content.sighting);
                LoadedFile { file, directory, sighting, loaded }
            }
            (Err(error), _) => LoadedFile { file, directory, sighting: None, loaded: Err(error.into()) },
        }
    }
}
