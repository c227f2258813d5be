//! One reload of the plugin directories, under the policy in force or under a new one. It takes effect as a whole or
//! not at all.

mod altered;
mod generated;
mod registered;
mod servers;

use super::change::{self, CatalogChange, What};
use super::error::ReloadError;
use super::policy;
use super::reloaded::Reloaded;
use crate::catalog::file::{self, FileError, FileIdentity, Sighting};
use crate::catalog::listing::{self, ListedFile};
use crate::catalog::{self, Beside, Catalog, EndedLoad, LoadError, Plugin, PluginBytes, RefusedPlugin, Seen};
use crate::grants::{self, GrantError};
use crate::inner::HostState;
use crate::ledger::blocking;
use crate::open::OpenError;
use crate::places::{OwnPlace, PlaceError};
use crate::policy_in_force::PolicyInForce;
use crate::text::WithCauses;
use cap_std::fs::Dir;
use portcullis_policy::PluginName;
use std::io;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Returns the directories to read: the open ones, or new ones at the same paths that no plugin can change.
pub(super) fn directories(host: &HostState) -> Result<Arc<[OwnPlace]>, ReloadError> {
    let Some(others) = host.loader.plugins.others()? else { return Ok(host.loader.plugins.held()) };
    for plugin in host.catalog().plugins() {
        for place in others.iter() {
            let changeable = plugin.grants.can_change(place).map_err(|error| place.failed(error))?;
            if let Some(key) = changeable {
                return Err(ReloadError::Covered { plugin: plugin.name.clone(), key: key.clone() });
            }
        }
    }
    Ok(others)
}

/// Gives a plugin the grants of a policy, after checking that the two fit.
pub(crate) async fn grant(
    host: &Arc<HostState>,
    policy: &Arc<PolicyInForce>,
    directories: &Arc<[OwnPlace]>,
    mut plugin: Plugin,
) -> Result<Plugin, LoadError> {
    grants::check_kinds(&policy.policy, &plugin).map_err(ungranted)?;
    grants::check_services(&policy.policy, &plugin, &host.injection).map_err(ungranted)?;
    let (host, policy, directories) = (Arc::clone(host), Arc::clone(policy), Arc::clone(directories));
    // This blocks, because it opens directories and certificates.
    let bind = move || -> Result<Plugin, GrantError> {
        policy.opening(&host.state, &directories).bind(&mut plugin)?;
        Ok(plugin)
    };
    blocking(bind).await.map_err(ungranted)
}

fn ungranted(error: GrantError) -> LoadError {
    LoadError::Grants(Box::new(error))
}

/// A file of a plugin directory: its metadata and its companion files, or why it does not belong to a plugin.
pub(super) struct FoundFile {
    pub(super) file: String,
    pub(super) directory: Arc<Dir>,
    pub(super) at: Result<(FileIdentity, Beside), FileError>,
}

/// Returns the files of the directories.
pub(super) async fn list(directories: &Arc<[OwnPlace]>) -> Result<Vec<FoundFile>, ReloadError> {
    let (directories, path) = (Arc::clone(directories), directories.first().map(|place| place.path.to_path_buf()));
    let list = move || -> Result<_, PlaceError> {
        let files = listing::list_all(&directories)?;
        let found = files.into_iter().map(|ListedFile { file, directory, beside }| {
            let at = beside.and_then(|beside| Ok((catalog::stamp(&directory, &file, &beside)?, beside)));
            FoundFile { file, directory, at }
        });
        Ok(found.filter(|found| !found.at.as_ref().is_err_and(is_gone)).collect())
    };
    match spawn_blocking(list).await {
        Ok(listed) => Ok(listed?),
        Err(error) => {
            let (what, path, source) = ("the plugin directory", path.unwrap_or_default(), io::Error::other(error));
            Err(PlaceError::Io { what, path, source }.into())
        }
    }
}

fn is_gone(error: &FileError) -> bool {
    matches!(error, FileError::Io(error) if error.kind() == io::ErrorKind::NotFound)
}

/// One reload, which takes effect as a whole or not at all.
pub(super) struct ReloadLook<'a> {
    host: &'a Arc<HostState>,
    directories: Arc<[OwnPlace]>,
    before: Arc<Catalog>,
    /// The new catalog, under the policy that will be in force.
    next: Catalog,
    earlier: &'a Seen,
    seen: Seen,
    changes: Vec<CatalogChange>,
    /// The background loads that enter the catalog.
    arrived: Vec<Arc<EndedLoad>>,
}

impl<'a> ReloadLook<'a> {
    /// Starts from the catalog in force, under a new policy if there is one.
    pub(super) fn new(
        host: &'a Arc<HostState>,
        directories: Arc<[OwnPlace]>,
        seen: &'a Seen,
        policy: Option<&Arc<PolicyInForce>>,
    ) -> Self {
        let before = host.catalog();
        let mut next = Catalog::clone(&before);
        if let Some(policy) = policy {
            next.policy = Arc::clone(policy);
        }
        let (changes, arrived) = (Vec::new(), Vec::new());
        Self { host, directories, before, next, earlier: seen, seen: seen.clone(), changes, arrived }
    }

    /// Removes plugins whose file was removed.
    pub(super) fn without(&mut self, files: &[FoundFile]) {
        // A reload considers all files of the directories.
        self.next.left_out.clear();
        if let Some(background) = self.host.background() {
            background.keep(|file| files.iter().any(|found| found.file == file));
        }
        let loaded = self.before.plugins().filter(|plugin| plugin.is_from_file()).map(|plugin| &plugin.file);
        let refused = self.before.refused().iter().map(|refused| &refused.file);
        let refused = refused.filter(|file| catalog::server_of(file).is_none());
        let mut gone: Vec<String> =
            loaded.chain(refused).filter(|known| files.iter().all(|found| found.file != **known)).cloned().collect();
        gone.sort();
        gone.dedup();
        gone.into_iter().for_each(|file| self.remove(file));
    }

    fn remove(&mut self, file: String) {
        let sha256 = self.seen.remove(&file).map(|sighting| sighting.sha256);
        // A refused file can have the name of a plugin that the application has registered.
        let loaded = |name: &PluginName| self.next.plugins.get(name).is_some_and(|plugin| plugin.file == file);
        let name = file::plugin_name(&file).ok().filter(loaded);
        let plugin = name.and_then(|name| self.next.plugins.remove(&name));
        let refused = self.take_refusal(&file);
        match plugin {
            Some(plugin) => {
                self.changes.push(CatalogChange::new(What::Removed(plugin.name.clone()), file, Some(plugin.sha256)));
            }
            None if refused => self.changes.push(CatalogChange::new(What::Cleared, file, sha256)),
            None => {}
        }
    }

    /// Checks one file, and reads it unless it cannot have changed.
    pub(super) async fn at(&mut self, FoundFile { file, directory, at }: FoundFile) -> Result<(), ReloadError> {
        let (stamp, beside) = match at {
            Ok(found) => found,
            Err(error) => return self.refuse(file, None, error.into()),
        };
        if self.is_registered(&file) {
            return self.refuse(file, None, FileError::Registered.into());
        }
        if self.is_server(&file) {
            return self.refuse(file, None, FileError::Server.into());
        }
        let loading = self.host.background().and_then(|background| background.sighting(&file));
        if loading.is_some_and(|loading| loading.holds(stamp)) {
            return Ok(());
        }
        let last = self.earlier.get(&file).copied();
        let refusal = self.before.refusal_of(&file);
        // What a served plugin generates is looked at later, without its file.
        let served = refusal.is_some() && self.is_served_still(&file, last);
        let may_pass = refusal.is_some_and(|refused| refused.error.may_pass()) && !served;
        if !may_pass && last.is_some_and(|last| last.holds(stamp)) {
            self.stop_loading(&file);
            return Ok(());
        }
        let content = match catalog::read(&directory, &file, beside).await {
            Ok(content) => content,
            Err(error) if is_gone(&error) => {
                self.remove(file);
                return Ok(());
            }
            Err(error) => return self.refuse(file, None, error.into()),
        };
        if loading.is_some_and(|loading| loading.has_content_of(&content.sighting)) {
            return Ok(());
        }
        self.stop_loading(&file);
        self.seen.insert(file.clone(), content.sighting);
        if self.serves(&file, &content) {
            if !served {
                self.clear(file, content.sha256);
            }
            return Ok(());
        }
        // Touching a refused file makes the host try it again.
        let untouched = last.is_some_and(|last| last.is_as(&content.sighting));
        if refusal.is_some() && untouched && !may_pass {
            return Ok(());
        }
        match self.load(&directory, &file, &content).await {
            Ok(Some(plugin)) => self.put(file, plugin),
            // Its sighting is stored when it has loaded. Until then, the next reload treats it as changed.
            Ok(None) => match last {
                Some(last) => drop(self.seen.insert(file, last)),
                None => drop(self.seen.remove(&file)),
            },
            Err(error) => return self.refuse(file, Some(content.sha256), error),
        }
        Ok(())
    }

    /// Adds a file that has loaded in the background, as if it were loaded now.
    pub(super) async fn arrive(&mut self, load: Arc<EndedLoad>) {
        let (file, sha256) = (load.file.clone(), load.sighting.map(|sighting| sighting.sha256));
        self.seen.extend(load.sighting.map(|sighting| (file.clone(), sighting)));
        self.arrived.push(Arc::clone(&load));
        let bound = match &load.loaded {
            Ok(_) if self.is_registered(&file) => Err(Arc::new(FileError::Registered.into())),
            Ok(_) if self.is_server(&file) => Err(Arc::new(FileError::Server.into())),
            Ok(plugin) if self.has(plugin) => return self.clear(file, plugin.sha256),
            Ok(plugin) => self.bind(plugin.unbound()).await.map_err(Arc::new),
            Err(error) => Err(Arc::clone(error)),
        };
        match bound {
            Ok(plugin) => self.put(file, plugin),
            Err(error) => self.note_refusal(file, sha256, error),
        }
    }

    /// Returns whether a plugin that generates tools was last seen in a file exactly as it is loaded.
    fn is_served_still(&self, file: &str, last: Option<Sighting>) -> bool {
        let loaded = self.before.plugins().find(|plugin| plugin.generates && plugin.file == file);
        loaded.zip(last).is_some_and(|(plugin, last)| last.has_hashes(plugin.sha256, plugin.beside.sha256))
    }

    /// Returns whether the same plugin is loaded, with the same description files.
    fn has(&self, plugin: &Plugin) -> bool {
        let identity = |plugin: &Plugin| (plugin.sha256, plugin.beside.sha256);
        self.before.plugins.get(&plugin.name).is_some_and(|loaded| identity(loaded) == identity(plugin))
    }

    /// Returns whether the loaded plugin has these bytes and these companion texts.
    fn serves(&self, file: &str, content: &PluginBytes) -> bool {
        let plugin = file::plugin_name(file).ok().and_then(|name| self.before.plugins.get(&name));
        plugin.is_some_and(|plugin| (plugin.sha256, plugin.beside.sha256) == (content.sha256, content.beside.sha256))
    }

    /// Loads a plugin, with its grants and its descriptions. One that has to be compiled first begins to load in the
    /// background, if the host loads in the background.
    async fn load(
        &self,
        directory: &Arc<Dir>,
        file: &str,
        content: &Arc<PluginBytes>,
    ) -> Result<Option<Plugin>, LoadError> {
        let loaded = match self.host.background() {
            None => Some(self.host.loader.load(file, content).await?),
            Some(background) => background.load(directory, file, content).await?,
        };
        match loaded {
            Some(plugin) => self.bind(plugin).await.map(Some),
            None => Ok(None),
        }
    }

    /// Gives a plugin its grants and its descriptions.
    async fn bind(&self, plugin: Plugin) -> Result<Plugin, LoadError> {
        let mut plugin = grant(self.host, &self.next.policy, &self.directories, plugin).await?;
        self.host.loader.generate(&mut plugin).await?;
        let policy = &self.next.policy;
        grants::check_keys(&policy.policy, &plugin).map_err(ungranted)?;
        if !self.before.plugins.contains_key(&plugin.name) {
            // A rule that misspells a tool of a plugin is an error when the host opens, and the plugin was not there.
            grants::check_rules_with(&policy.policy, &self.next, &plugin, &policy.bases).map_err(ungranted)?;
        }
        self.host.loader.describe(&mut plugin)?;
        Ok(plugin)
    }

    fn stop_loading(&self, file: &str) {
        if let Some(background) = self.host.background() {
            background.stop(file);
        }
    }

    fn has_another_policy(&self) -> bool {
        !Arc::ptr_eq(&self.next.policy, &self.before.policy)
    }

    /// Binds the remaining plugins to the grants of a new policy, and checks that policy against the new catalog.
    ///
    /// # Errors
    /// The policy does not fit the plugins, or one of its grants cannot be opened. Nothing has changed then.
    pub(super) async fn bind_again(&mut self) -> Result<(), OpenError> {
        if !self.has_another_policy() {
            return Ok(());
        }
        let policy = &self.next.policy;
        grants::check_names(&policy.policy, &self.next, &policy.bases)?;
        let old = self.old();
        let (host, policy, directories) = (Arc::clone(self.host), Arc::clone(policy), Arc::clone(&self.directories));
        // This blocks, because it opens directories and certificates.
        let bind = move || old.iter().map(|plugin| policy::bound(&host, &policy, &directories, plugin)).collect();
        let bound: Result<Vec<Plugin>, OpenError> = blocking(bind).await;
        for plugin in bound? {
            self.next.plugins.insert(plugin.name.clone(), Arc::new(plugin));
        }
        Ok(())
    }

    fn put(&mut self, file: String, plugin: Plugin) {
        self.take_refusal(&file);
        let (name, sha256, beside) = (plugin.name.clone(), Some(plugin.sha256), plugin.beside.sha256);
        let previous = self.next.plugins.insert(name.clone(), Arc::new(plugin));
        let previous = previous.map(|plugin| Arc::clone(&plugin.sha256_hex));
        let what = if previous.is_some() { What::Replaced(name) } else { What::Added(name) };
        self.changes.push(CatalogChange { previous, beside, ..CatalogChange::new(what, file, sha256) });
    }

    /// Adds a file to the refused ones. An error of the audit log is no fault of the file, and is returned.
    fn refuse(&mut self, file: String, sha256: Option<[u8; 32]>, error: LoadError) -> Result<(), ReloadError> {
        let error = match error {
            LoadError::Audit(error) => return Err(error.into()),
            error => error,
        };
        self.stop_loading(&file);
        self.note_refusal(file, sha256, Arc::new(error));
        Ok(())
    }

    fn note_refusal(&mut self, file: String, sha256: Option<[u8; 32]>, error: Arc<LoadError>) {
        if sha256.is_none() {
            self.seen.remove(&file);
        }
        let reason = WithCauses(&*error).to_string();
        let same = |known: &RefusedPlugin| WithCauses(&*known.error).to_string() == reason;
        let last = self.earlier.get(&file).map(|last| last.sha256);
        if last == sha256 && self.before.refusal_of(&file).is_some_and(same) {
            return;
        }
        self.take_refusal(&file);
        self.next.refused.push(RefusedPlugin { file: file.clone(), error });
        self.changes.push(CatalogChange { reason: Some(reason), ..CatalogChange::new(What::Refused, file, sha256) });
    }

    fn clear(&mut self, file: String, sha256: [u8; 32]) {
        if self.take_refusal(&file) {
            self.changes.push(CatalogChange::new(What::Cleared, file, Some(sha256)));
        }
    }

    fn take_refusal(&mut self, file: &str) -> bool {
        let before = self.next.refused.len();
        self.next.refused.retain(|refused| refused.file != file);
        self.next.refused.len() < before
    }

    /// Records the changes, and then applies them. Nothing can stay half applied. If this is dropped between the two,
    /// the next look records them again.
    pub(super) async fn take_effect(mut self) -> Result<(Reloaded, Seen), ReloadError> {
        for change in &self.changes {
            change.record(self.host).await?;
        }
        let policy = self.has_another_policy().then(|| Arc::clone(&self.next.policy));
        if let Some(policy) = &policy {
            policy::record(self.host, &self.before.policy, policy).await?;
        }
        self.host.loader.plugins.hold(self.directories);
        if policy.is_some() || !self.changes.is_empty() {
            self.next.refused.sort_by(|one, other| one.file.cmp(&other.file));
            self.host.replace_catalog(self.next);
        }
        if let Some(background) = self.host.background() {
            // From here on a call finds the plugin, and only then nothing says that it loads.
            background.forget(&self.arrived);
            let is_change = |load: &&Arc<EndedLoad>| self.changes.iter().any(|change| change.file == load.file);
            background.tell_ended(self.arrived.iter().filter(is_change), &self.host.catalog());
            let tried_again = |file: &str, sha256| {
                self.before.refusal_of(file).is_some()
                    && self.earlier.get(file).is_some_and(|last| last.sha256 == sha256)
            };
            background.tell_begun(tried_again);
        }
        if let Some(policy) = &policy {
            policy::took_effect(self.host, policy);
        }
        let reloaded =
            Reloaded { policy: policy.map(|policy| policy.sha256.clone()), ..change::summed_up(self.changes) };
        Ok((reloaded, self.seen))
    }
}
