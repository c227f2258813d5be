//! Registers plugins of the application in a running host, and removes them. A registered plugin enters the catalog as
//! one that a reload has found, and stays in it until it is removed.

use super::error::ReloadError;
use super::look::ReloadLook;
use crate::audit::AuditError;
use crate::call::redecide_left;
use crate::catalog::file::{self, EXTENSION};
use crate::catalog::{FileError, LoadError, Plugin};
use crate::inner::HostState;
use crate::native::NativePlugin;
use portcullis_policy::PluginName;
use std::fmt;
use std::sync::Arc;

/// A plugin that an application registers: a [`ComponentPlugin`] or a [`NativePlugin`].
#[derive(Debug)]
pub struct Registration(Registered);

#[derive(Debug)]
enum Registered {
    Component(ComponentPlugin),
    Native(NativePlugin),
}

/// A plugin whose component the application holds in memory.
pub struct ComponentPlugin {
    name: String,
    bytes: Vec<u8>,
}

impl ComponentPlugin {
    /// Creates a plugin from the bytes of a component. The name must be the one in the plugin's manifest, as the file
    /// name of a plugin file is.
    pub fn from_bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }
}

impl fmt::Debug for ComponentPlugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plugin = formatter.debug_struct("ComponentPlugin");
        plugin.field("name", &self.name).field("bytes", &self.bytes.len()).finish()
    }
}

impl From<ComponentPlugin> for Registration {
    fn from(plugin: ComponentPlugin) -> Self {
        Self(Registered::Component(plugin))
    }
}

impl From<NativePlugin> for Registration {
    fn from(plugin: NativePlugin) -> Self {
        Self(Registered::Native(plugin))
    }
}

/// Why a plugin was not registered. The catalog is then unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The application has already registered a plugin of this name.
    #[error("the application has already registered a plugin `{name}`: unregister it first, or choose another name")]
    Registered {
        /// The name.
        name: PluginName,
    },
    /// A plugin directory has a file of this name.
    #[error(
        "a plugin directory already has the file {name}.wasm: remove it and reload, or register the plugin under \
         another name"
    )]
    File {
        /// The name.
        name: PluginName,
    },
    /// The plugin cannot be loaded, or the policy does not fit it.
    #[error("the plugin {name:?} cannot be loaded")]
    Load {
        /// The name as it was passed.
        name: String,
        /// The reason.
        source: LoadError,
    },
    /// The audit log cannot be written.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The change could not take effect.
    #[error(transparent)]
    Reload(ReloadError),
}

/// Why a plugin was not removed. The catalog is then unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnregisterError {
    /// The application has not registered a plugin of this name.
    #[error("the application has not registered a plugin {name:?}")]
    NotRegistered {
        /// The name as it was passed.
        name: String,
    },
    /// The audit log cannot be written.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The change could not take effect.
    #[error(transparent)]
    Reload(ReloadError),
}

/// Loads a plugin and adds it to the catalog.
pub(crate) async fn register(host: &Arc<HostState>, registration: Registration) -> Result<PluginName, RegisterError> {
    let (name, loaded) = match registration.0 {
        Registered::Component(ComponentPlugin { name, bytes }) => {
            let loaded = load_component(host, &name, bytes).await;
            (name, loaded)
        }
        Registered::Native(native) => {
            let native = native.into_parts();
            let name = native.manifest.name.clone();
            let checked = file::checked_name(&name).map_err(LoadError::from);
            (name, checked.and_then(|name| Plugin::native(name, native).map_err(LoadError::Definition)))
        }
    };
    let failed = |source| RegisterError::Load { name: name.clone(), source };
    let plugin = loaded.map_err(failed)?;
    let plugin_name = plugin.name.clone();
    // Loading comes before the lock, because reloads would wait for the compiler.
    let mut seen = host.seen.lock().await;
    // Under the lock, so that neither a reload nor another registration comes in between.
    check_free(host, &plugin_name)?;
    let mut look = ReloadLook::new(host, host.loader.plugins.held(), &seen, None);
    look.register(plugin).await.map_err(failed)?;
    let (_, now) = look.take_effect().await.map_err(|error| match error {
        ReloadError::Audit(error) => RegisterError::Audit(error),
        error => RegisterError::Reload(error),
    })?;
    *seen = now;
    drop(seen);
    // As after every reload.
    let _ = redecide_left(host).await;
    Ok(plugin_name)
}

async fn load_component(host: &HostState, name: &str, bytes: Vec<u8>) -> Result<Plugin, LoadError> {
    let name = file::checked_name(name)?;
    host.loader.load_registered(&name, bytes).await
}

/// Refuses a name that another plugin has. A file has its name even if it is refused, or is still being compiled.
fn check_free(host: &HostState, name: &PluginName) -> Result<(), RegisterError> {
    let (catalog, name) = (host.catalog(), name.clone());
    if catalog.plugins.get(&name).is_some_and(|plugin| plugin.is_registered()) {
        return Err(RegisterError::Registered { name });
    }
    // A file that was refused only because its name was registered does not keep the name from a new registration.
    let is_in_the_way = |error: &LoadError| !matches!(error, LoadError::File(FileError::Registered));
    let is_refused = catalog.refusal_of(&format!("{name}{EXTENSION}")).is_some_and(|file| is_in_the_way(&file.error));
    let is_loading = host.background().is_some_and(|background| background.plugins().contains(&name));
    if catalog.plugins.contains_key(&name) || catalog.left_out.contains(&name) || is_refused || is_loading {
        return Err(RegisterError::File { name });
    }
    Ok(())
}

/// Removes a registered plugin from the catalog. Calls that have begun keep it.
pub(crate) async fn unregister(host: &Arc<HostState>, name: &str) -> Result<(), UnregisterError> {
    let mut seen = host.seen.lock().await;
    let catalog = host.catalog();
    let Some(plugin) = catalog.plugin(name).filter(|plugin| plugin.is_registered()) else {
        return Err(UnregisterError::NotRegistered { name: name.to_owned() });
    };
    let mut look = ReloadLook::new(host, host.loader.plugins.held(), &seen, None);
    look.unregister(plugin);
    let (_, now) = look.take_effect().await.map_err(|error| match error {
        ReloadError::Audit(error) => UnregisterError::Audit(error),
        error => UnregisterError::Reload(error),
    })?;
    *seen = now;
    drop(seen);
    // As after every reload.
    let _ = redecide_left(host).await;
    Ok(())
}
