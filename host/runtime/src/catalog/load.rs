//! Loads a file of the plugin directory into a plugin that can be called, or returns the reason for a refusal.

use super::beside::Beside;
use super::cached::keep_code;
use super::contents::{Catalog, RefusedPlugin};
use super::describing::{checked_manifest, describe};
use super::description;
use super::file::{self, FileError};
use super::load_error::LoadError;
use super::loader::{Loader, blocking, caught_step};
use super::plugin::Plugin;
use super::plugin_file::{self, PluginBytes};
use super::plugin_source::PluginSource;
use super::refusal::Attempt;
use super::turn::Compiled;
use crate::text::WithCauses;
use cap_std::fs::Dir;
use portcullis_definitions::definition::CheckedManifest;
use portcullis_definitions::manifest::Manifest;
use portcullis_policy::PluginName;
use portcullis_sandbox::{Code, CodeStore, Contract, Entry, Fetched, Surface, check_component};
use std::io;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

/// The result of compiling and describing a file.
struct DescribedFile {
    manifest: Manifest,
    code: Code,
}

/// The result of looking for a file in the cache.
pub(super) enum CachedPlugin {
    /// The description is cached, so the plugin is loaded.
    Loaded(Box<Plugin>),
    /// The file has to be compiled and described.
    Unmade(CheckedFile),
}

/// A file that passed the checks before compiling.
pub(super) struct CheckedFile {
    name: PluginName,
    contract: Contract,
    attempt: Attempt,
}

impl Loader {
    /// Applies the description files to the plugins of a catalog that is not shared yet. The plugins must have their
    /// grants. Refuses the plugins with invalid description files.
    pub(crate) fn describe_all(&self, catalog: &mut Catalog) {
        let mut refused = Vec::new();
        for plugin in catalog.plugins.values_mut().filter_map(Arc::get_mut) {
            if let Err(error) = self.describe(plugin) {
                refused.push((plugin.name.clone(), plugin.file.clone(), error));
            }
        }
        for (name, file, error) in refused {
            catalog.plugins.remove(&name);
            catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) });
        }
        catalog.refused.sort_by(|one, other| one.file.cmp(&other.file));
    }

    /// Applies the description files to a plugin that has its grants.
    pub(crate) fn describe(&self, plugin: &mut Plugin) -> Result<(), LoadError> {
        description::describe(plugin, self.plugins.working())
    }

    /// Loads a plugin without its grants and with its own descriptions.
    pub(crate) async fn load(&self, file: &str, content: &Arc<PluginBytes>) -> Result<Plugin, LoadError> {
        let load = async {
            match self.load_cached(file, content).await? {
                CachedPlugin::Loaded(plugin) => Ok(*plugin),
                CachedPlugin::Unmade(unmade) => self.load_unmade(file, content, unmade).await,
            }
        };
        caught_step(|| Box::pin(load)).await
    }

    /// Loads a component that the application registers, without its grants. Maps its code at once, because there is no
    /// file to compile again if the cache loses it.
    pub(crate) async fn load_registered(&self, name: &PluginName, bytes: Vec<u8>) -> Result<Plugin, LoadError> {
        let content = blocking(move || Ok(PluginBytes::registered(bytes)?)).await?;
        let content = Arc::new(content);
        let plugin = self.load(&format!("{name}{}", file::EXTENSION), &content).await?;
        plugin.code.get_or_try_init(|| self.map(name, &content)).await?;
        Ok(plugin.registered())
    }

    /// Loads a plugin if its description is cached.
    ///
    /// # Errors
    /// The file is refused without compiling it, or its last refusal still applies.
    pub(super) async fn load_cached(&self, file: &str, content: &Arc<PluginBytes>) -> Result<CachedPlugin, LoadError> {
        let name = file::plugin_name(file)?;
        let (store, content, file) = (Arc::clone(&self.store), Arc::clone(content), file.to_owned());
        // One step for all of it, because a thousand files are read at a time.
        let (looked, content) = blocking(move || Ok((look_in_cache(&store, &file, &content)?, content))).await?;
        let contract = match looked {
            CacheLook::Plugin(plugin) => return Ok(CachedPlugin::Loaded(plugin)),
            CacheLook::Missing(contract) => contract,
            CacheLook::Rejected(contract, reason) => {
                let text = format!("cached description not used: {reason}");
                self.note(&name, &content.sha256, &text).await?;
                contract
            }
        };
        let attempt = self.attempt(&name, &content).await?;
        Ok(CachedPlugin::Unmade(CheckedFile { name, contract, attempt }))
    }

    /// Compiles a plugin and has it describe itself.
    async fn load_unmade(
        &self,
        file: &str,
        content: &Arc<PluginBytes>,
        CheckedFile { name, contract, attempt }: CheckedFile,
    ) -> Result<Plugin, LoadError> {
        let made = self.compile_and_describe(&name, content).await;
        // A refusal is stored before it is returned, so that the next start does not compile the file again.
        self.conclude(&attempt, content, made.as_ref().map(drop)).await;
        let DescribedFile { manifest, code } = made?;
        let (store, content, file) = (Arc::clone(&self.store), Arc::clone(content), file.to_owned());
        blocking(move || Ok(assemble(&file, &content, contract, manifest, Some(code))?.used_in(&store))).await
    }

    async fn compile_and_describe(&self, name: &PluginName, content: &PluginBytes) -> Result<DescribedFile, LoadError> {
        let code = self.map(name, content).await?;
        // The semaphores are never closed.
        let slot = self.slots.descriptions.acquire().await;
        let manifest = describe(&self.engine, &code).await?;
        drop(slot);
        self.keep_manifest(content, &manifest).await;
        Ok(DescribedFile { manifest, code })
    }

    /// Returns the code of a loaded plugin. Maps it on first use.
    pub(crate) async fn code<'a>(&self, plugin: &'a Plugin) -> Result<&'a Code, LoadError> {
        match plugin.code.get() {
            Some(code) => Ok(code),
            // Boxed, because the future of every call would have its size.
            None => Box::pin(plugin.code.get_or_try_init(|| self.map_again(plugin))).await,
        }
    }

    /// Maps the code of a plugin whose file may have been replaced since. The cache finds the code by its hash.
    async fn map_again(&self, plugin: &Plugin) -> Result<Code, LoadError> {
        if let Some(code) = self.cached_code(&plugin.name, &plugin.sha256).await? {
            return Ok(code);
        }
        let mut failed = LoadError::Changed;
        for directory in self.plugins.held().iter().filter_map(|place| place.directory.as_ref()) {
            match read(directory, &plugin.file, Beside::default()).await {
                Ok(content) if content.sha256 == plugin.sha256 => return self.compile(&plugin.name, &content).await,
                Ok(_) => failed = LoadError::Changed,
                Err(error) => failed = error.into(),
            }
        }
        Err(failed)
    }

    /// Maps a plugin's code from the cache, or compiles it.
    async fn map(&self, name: &PluginName, content: &PluginBytes) -> Result<Code, LoadError> {
        match self.cached_code(name, &content.sha256).await? {
            Some(code) => Ok(code),
            None => self.compile(name, content).await,
        }
    }

    /// Removes old cache entries on a thread that may block on the disk.
    pub(crate) async fn make_room(&self) {
        let store = Arc::clone(&self.store);
        // If this fails, the cache only takes more space.
        let _ = spawn_blocking(move || store.make_room()).await;
    }

    async fn compile(&self, name: &PluginName, content: &PluginBytes) -> Result<Code, LoadError> {
        if let Some(code) = self.examined_code(content).await? {
            self.make_room().await;
            return Ok(code);
        }
        self.observer.queued(name, content.bytes.len() as u64);
        let slot = self.slots.compilations.acquire().await;
        self.observer.compiling(name);
        let compiled = self.compile_in_turn(content).await;
        self.observer.compiled(name);
        drop(slot);
        let (artefact, turn) = match compiled? {
            Compiled::Here(artefact, turn) => (artefact, turn),
            Compiled::Elsewhere(code) => return Ok(code),
        };
        let (engine, store, sha256) = (self.engine.clone(), Arc::clone(&self.store), content.sha256);
        let map_and_keep = move || {
            let code = Code::load(&engine, &artefact)?;
            let kept = keep_code(&store, &engine, &sha256, &artefact, code);
            // Processes that wait for the turn look in the cache next, so the code must be there first.
            drop(turn);
            Ok(kept)
        };
        let (code, kept) = blocking(map_and_keep).await?;
        if let Err(error) = kept {
            // The cache is optional. Without it, the next start compiles again.
            let event = WithCauses(&error).to_string();
            self.note(name, &content.sha256, &event).await?;
        }
        self.make_room().await;
        Ok(code)
    }
}

/// What the cache has of a file that passed the checks before compiling.
enum CacheLook {
    /// Its description, so the plugin is loaded.
    Plugin(Box<Plugin>),
    Missing(Contract),
    /// A description that is not what was written, with the reason.
    Rejected(Contract, &'static str),
}

/// Checks the bytes of a file, and looks for its description in the cache.
fn look_in_cache(store: &CodeStore, file: &str, content: &PluginBytes) -> Result<CacheLook, LoadError> {
    let contract = check_component(&content.bytes)?;
    let manifest: Option<Manifest> = match store.fetch(Entry::Manifest, &content.sha256) {
        Fetched::Hit(bytes) => serde_json::from_slice(&bytes).ok(),
        Fetched::Miss => None,
        Fetched::Rejected(reason) => return Ok(CacheLook::Rejected(contract, reason)),
    };
    let Some(manifest) = manifest else { return Ok(CacheLook::Missing(contract)) };
    let plugin = assemble(file, content, contract, manifest, None)?.used_in(store);
    Ok(CacheLook::Plugin(Box::new(plugin)))
}

/// Reads a file of a plugin directory on a thread that may block on the disk.
pub(crate) async fn read(directory: &Arc<Dir>, file: &str, beside: Beside) -> Result<Arc<PluginBytes>, FileError> {
    let (directory, file) = (Arc::clone(directory), file.to_owned());
    match spawn_blocking(move || plugin_file::read(&directory, &file, beside)).await {
        Ok(read) => read.map(Arc::new),
        Err(error) => Err(io::Error::other(error).into()),
    }
}

/// Creates a plugin from its description. Checks the description each time, because a cached one may come from an
/// earlier version.
pub(crate) fn assemble(
    file: &str,
    content: &PluginBytes,
    contract: Contract,
    manifest: Manifest,
    code: Option<Code>,
) -> Result<Plugin, LoadError> {
    let (name, surface) = (file::plugin_name(file)?, Surface::of(&content.bytes)?);
    let checked = checked_manifest(&name, &manifest, surface.generates)?;
    let (sha256, bytes, beside) = (content.sha256, content.bytes.len() as u64, content.beside.clone());
    Ok(PluginParts { sha256, bytes, beside, contract, surface }.into_plugin(name, file, manifest, checked, code))
}

/// What is known of a plugin's file without running the plugin.
pub(super) struct PluginParts {
    pub(super) sha256: [u8; 32],
    pub(super) bytes: u64,
    pub(super) beside: Beside,
    pub(super) contract: Contract,
    pub(super) surface: Surface,
}

impl PluginParts {
    /// Creates the plugin, without its grants and with its own descriptions.
    pub(super) fn into_plugin(
        self,
        name: PluginName,
        file: &str,
        manifest: Manifest,
        checked: CheckedManifest,
        code: Option<Code>,
    ) -> Plugin {
        let Surface { imports, reviews, previews, generates, prepares } = self.surface;
        Plugin {
            source: PluginSource::File,
            file: file.to_owned(),
            bytes: self.bytes,
            contract: Some(self.contract),
            imports,
            reviews,
            previews,
            generates,
            prepares,
            version: manifest.version,
            description: manifest.description,
            tools: checked.tools.clone(),
            dependencies: checked.dependencies,
            beside: self.beside,
            own_tools: checked.tools.clone(),
            manifest_tools: checked.tools,
            code: Arc::new(OnceCell::new_with(code)),
            ..Plugin::empty(name, self.sha256)
        }
    }
}
