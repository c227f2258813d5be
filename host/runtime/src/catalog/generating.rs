//! Runs a plugin's `generate`: with its settings, with its directories as read-only handles, within limits, and
//! checked to return the same each time. The result is compared with its pin.

use super::contents::{Catalog, RefusedPlugin};
use super::describing::{context, why, without_handles};
use super::generated_change::{GeneratedChange, ToolsOrigin, pinned_tools};
use super::generation_error::GenerationError;
use super::load_error::LoadError;
use super::loader::{Loader, blocking};
use super::plugin::Plugin;
use crate::text::OneLine;
use portcullis_definitions::definition;
use portcullis_definitions::manifest::Definition;
use portcullis_definitions::tool::Tool;
use portcullis_ledger::pins::{GeneratedPins, Pin, PinSource};
use portcullis_policy::{Limits, LocalName, PluginName};
use portcullis_sandbox::Handles;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Maximum wall-clock time of one generation. An interpreter parses an API description of 10 MB in a few seconds, and a
/// busy machine takes some times as long.
const GENERATE_TIME_MAX: Duration = Duration::from_secs(30);

/// Maximum bytes of the generated definitions: two thousand tools with 4 KiB each.
const GENERATE_TRANSFER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Maximum output to stdout and stderr during a generation, in bytes. It helps to explain a refusal.
const GENERATE_LOG_BYTES_MAX: usize = 4096;

/// Maximum characters of a plugin's own error.
const ERROR_CHARACTERS_MAX: usize = 1024;

impl Loader {
    /// Adds the generated tools to the plugins of a catalog that is not shared yet. The plugins must have their
    /// grants. Refuses the plugins whose tools cannot be used.
    pub(crate) async fn generate_all(&self, catalog: &mut Catalog) {
        let mut refused = Vec::new();
        // Servers are started together.
        let generating = catalog.plugins.values_mut().filter(|plugin| !plugin.is_server());
        // Only the plugins of the host itself are shared at this point. They generate nothing.
        for plugin in generating.filter_map(Arc::get_mut) {
            if let Err(error) = self.generate(plugin).await {
                refused.push((plugin.name.clone(), plugin.file.clone(), error));
            }
        }
        for (name, file, error) in refused {
            catalog.plugins.remove(&name);
            catalog.refused.push(RefusedPlugin { file, error: Arc::new(error) });
        }
        catalog.refused.sort_by(|one, other| one.file.cmp(&other.file));
    }

    /// Adds the generated tools to a plugin that has its grants. They replace those of an earlier generation. After an
    /// error, the plugin is unchanged.
    pub(crate) async fn generate(&self, plugin: &mut Plugin) -> Result<(), LoadError> {
        if plugin.is_server() {
            return self.list_server(plugin).await;
        }
        if !plugin.generates {
            return Ok(());
        }
        let definitions = self.run_generator(plugin).await?;
        let (identity, own) = ((plugin.name.clone(), plugin.sha256), plugin.manifest_tools.clone());
        let (source, pins) = (pin_source(plugin), Arc::clone(&self.pins));
        // Compiling two thousand schemas takes long, and pins are files.
        let accepted =
            blocking(move || Ok(accepted((&identity.0, identity.1), own, &definitions, source, &pins)?)).await?;
        plugin.own_tools = accepted.clone();
        plugin.tools = accepted;
        Ok(())
    }

    /// Does the same without a pin, for a check. Returns the definitions as the plugin made them.
    pub(crate) async fn generate_unpinned(&self, plugin: &mut Plugin) -> Result<Vec<Definition>, LoadError> {
        if !plugin.generates {
            return Ok(Vec::new());
        }
        let definitions = self.run_generator(plugin).await?;
        let (name, own, made) = (plugin.name.clone(), plugin.manifest_tools.clone(), definitions.clone());
        let tools = blocking(move || {
            let generated = checked(&name, &own, &made)?;
            Ok(own.into_iter().chain(generated).collect::<BTreeMap<_, _>>())
        })
        .await?;
        plugin.own_tools = tools.clone();
        plugin.tools = tools;
        Ok(definitions)
    }

    async fn run_generator(&self, plugin: &Plugin) -> Result<Vec<Definition>, LoadError> {
        let code = self.code(plugin).await?;
        // The engine has places for these runs besides those of calls, so no call waits for a generation.
        let slot = self.slots.descriptions.acquire().await;
        let ran = self.engine.generate(code, &limits(plugin), &handles(plugin), &context()).await;
        drop(slot);
        Ok(match ran.result {
            Ok(Some(Ok(definitions))) => definitions,
            Ok(Some(Err(error))) => {
                let error: String = error.chars().take(ERROR_CHARACTERS_MAX).collect();
                return Err(GenerationError::Failed(OneLine(&error).to_string()).into());
            }
            Ok(None) => return Err(GenerationError::Unstable.into()),
            Err(stop) => return Err(GenerationError::Failed(why(&stop, &ran.log.bytes)).into()),
        })
    }
}

/// Checks generated tools, and returns them.
fn checked(
    plugin: &PluginName,
    own: &BTreeMap<LocalName, Arc<Tool>>,
    definitions: &[Definition],
) -> Result<BTreeMap<LocalName, Arc<Tool>>, GenerationError> {
    let generated = definition::check_generated(plugin, own, definitions).map_err(GenerationError::Definition)?;
    if own.is_empty() && generated.is_empty() {
        return Err(GenerationError::NoTools);
    }
    Ok(generated)
}

/// Checks generated tools, and returns all tools of the plugin if these are the accepted ones. The first tools of a
/// source are accepted, because the operator has just written the policy that leads to it.
fn accepted(
    (plugin, sha256): (&PluginName, [u8; 32]),
    own: BTreeMap<LocalName, Arc<Tool>>,
    definitions: &[Definition],
    source: PinSource,
    pins: &GeneratedPins,
) -> Result<BTreeMap<LocalName, Arc<Tool>>, GenerationError> {
    let generated = checked(plugin, &own, definitions)?;
    let next = pinned_tools(&generated);
    let pin = pins.read_or_keep_first(&source, &next).map_err(GenerationError::Pin)?;
    let pinned = match &pin {
        Pin::Tools(tools) => Some(tools),
        Pin::Absent | Pin::Damaged => None,
    };
    let change = GeneratedChange::between((plugin, sha256), ToolsOrigin::Generated, source, pinned, (&generated, next));
    match change {
        Some(change) => Err(GenerationError::Changed(Box::new(change))),
        None => Ok(own.into_iter().chain(generated).collect()),
    }
}

/// Identifies what a plugin generates its tools from. Other settings or another directory are the operator's decision,
/// and get a pin of their own.
fn pin_source(plugin: &Plugin) -> PinSource {
    let directories: Vec<(&str, &str)> = plugin
        .dependencies
        .keys()
        .filter_map(|key| Some((key.as_str(), plugin.grants.directory(key)?.place.as_str())))
        .collect();
    PinSource::new(plugin.name.as_str(), &plugin.grants.config, &directories)
}

/// Returns the bound directories as read-only handles, and the settings. There are no other handles.
fn handles(plugin: &Plugin) -> Handles {
    let mut handles = without_handles(plugin);
    for key in plugin.dependencies.keys() {
        if let Some(bound) = plugin.grants.directory(key) {
            handles.directory_key(Arc::from(key.as_str()), Some(bound.directory.read_only()));
        }
    }
    handles
}

/// Returns the limits of a generation. Its memory is that of a call under the policy, because both read the same files.
fn limits(plugin: &Plugin) -> Limits {
    Limits {
        memory_bytes: plugin.grants.memory_bytes,
        time: GENERATE_TIME_MAX,
        transfer_bytes: GENERATE_TRANSFER_BYTES_MAX,
        log_bytes: GENERATE_LOG_BYTES_MAX,
        progress_reports: 1,
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_without_any_tool_is_refused() {
        let name = PluginName::new("plugin").unwrap();
        assert!(matches!(checked(&name, &BTreeMap::new(), &[]), Err(GenerationError::NoTools)));
    }
}
