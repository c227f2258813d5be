//! Loads the plugin directories when a host opens.

use super::background::BackgroundLoads;
use super::contents::{Catalog, RefusedPlugin};
use super::file::{FileError, Seen, Sighting};
use super::listing::{self, ListedFile};
use super::load::read;
use super::load_error::LoadError;
use super::loader::{Loader, compilations};
use super::plugin::Plugin;
use super::wanted::Wanted;
use crate::policy_in_force::PolicyInForce;
use std::io;
use std::sync::Arc;
use tokio::task::JoinSet;

/// A file of a plugin directory and the result of loading it: a plugin, or `None` if it still loads in the background.
struct LoadedFile {
    file: String,
    sighting: Option<Sighting>,
    loaded: Result<Option<Plugin>, LoadError>,
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
        let mut loading = JoinSet::new();
        let listed = listing::list_all(&self.plugins.held());
        let mut listed = listed.map_err(|error| FileError::Io(io::Error::other(error)))?;
        let wanted = only_for.map_or_else(Wanted::default, |tool| Wanted::by_call(tool, &policy.policy, &listed));
        catalog.left_out = wanted.leave_out(&mut listed);
        let (mut done, total) = (0, listed.len());
        let mut listed = listed.into_iter();
        loop {
            self.observer.advanced(done, total);
            // A file is in memory while it loads, so more files at a time would only cost memory.
            while loading.len() < compilations() {
                let Some(listed) = listed.next() else { break };
                let (loader, background) = (Arc::clone(self), background.cloned());
                loading.spawn(async move { loader.load_file(listed, background).await });
            }
            let Some(loaded) = loading.join_next().await else { break };
            let LoadedFile { file, sighting, loaded } = loaded.map_err(io::Error::other).map_err(FileError::Io)?;
            done += 1;
            seen.extend(sighting.map(|sighting| (file.clone(), sighting)));
            match loaded {
                Ok(Some(plugin)) => drop(catalog.plugins.insert(plugin.name.clone(), Arc::new(plugin))),
                Ok(None) => {}
                Err(error) => catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) }),
            }
        }
        self.add_servers(&mut catalog, &policy.policy, &wanted);
        Ok((catalog, seen))
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
                LoadedFile { file, sighting: Some(content.sighting), loaded }
            }
            (Ok(content), Some(background)) => {
                let loaded = background.load(&directory, &file, &content).await;
                // A file that loads in the background gets its sighting when it has loaded.
                let sighting = (!matches!(loaded, Ok(None))).then_some(content.sighting);
                LoadedFile { file, sighting, loaded }
            }
            (Err(error), _) => LoadedFile { file, sighting: None, loaded: Err(error.into()) },
        }
    }
}
