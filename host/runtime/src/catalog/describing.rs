//! Runs a plugin's `describe`: without handles, within a short time, and checked to return the same each time.

use super::code_cache::CodeCache;
use super::file;
use super::load_error::LoadError;
use super::plugin::Plugin;
use crate::alone;
use crate::text::OneLine;
use portcullis_definitions::definition::{self, CheckedManifest};
use portcullis_definitions::manifest::Manifest;
use portcullis_policy::{Limits, PluginName};
use portcullis_sandbox::{Artefact, CallContext, Code, Compiler, Engine, Handles, Stop, Surroundings, check_component};
use std::sync::Arc;
use std::time::Duration;

/// Maximum wall-clock time of one description. An interpreter describes itself in a few milliseconds.
const DESCRIBE_TIME_MAX: Duration = Duration::from_secs(2);

/// Maximum size of one description, in bytes.
const DESCRIBE_TRANSFER_BYTES_MAX: usize = 1024 * 1024;

/// Maximum output to stdout and stderr during a description, in bytes. It helps to explain a refusal.
const DESCRIBE_LOG_BYTES_MAX: usize = 4096;

/// Maximum handles during a description: the standard streams and a few pollables.
const DESCRIBE_HANDLES_MAX: usize = 64;

/// Maximum memory that the host holds for `describe`, in bytes. The guest has no handles, so it can open little.
const DESCRIBE_HOST_MEMORY_BYTES_MAX: usize = 1024 * 1024;

/// Checks whether a plugin would load: compiles it and runs its `describe`. Returns its manifest. Caches nothing.
///
/// # Errors
/// The plugin would be refused.
pub async fn check(name: &str, bytes: &[u8], engine: &Engine, compiler: &Compiler) -> Result<Manifest, LoadError> {
    Ok(examine(name, bytes, engine, compiler, None).await?.0)
}

/// Loads one file's bytes as [`check`] does, and returns the code as well, also in the form that other engines can map.
/// Takes the code from the cache, if there is one.
pub(crate) async fn examine(
    name: &str,
    bytes: &[u8],
    engine: &Engine,
    compiler: &Compiler,
    cache: Option<&CodeCache>,
) -> Result<(Manifest, Code, Artefact), LoadError> {
    let name = file::checked_name(name)?;
    // An unacceptable component is refused before the compiler, the expensive step, sees it.
    check_component(bytes)?;
    let (artefact, code) = match cache {
        Some(cache) => cache.code(bytes, engine, compiler).await?,
        None => {
            let artefact = compiler.compile(bytes).await?;
            let code = Code::load(engine, &artefact)?;
            (artefact, code)
        }
    };
    let manifest = describe(engine, &code).await?;
    checked_manifest(&name, &manifest, code.generates())?;
    Ok((manifest, code, artefact))
}

/// Checks a manifest. A plugin that generates tools may name none.
pub(super) fn checked_manifest(
    name: &PluginName,
    manifest: &Manifest,
    generates: bool,
) -> Result<CheckedManifest, LoadError> {
    let checked =
        if generates { definition::check_generating(name, manifest) } else { definition::check(name, manifest) };
    checked.map_err(LoadError::Definition)
}

/// Asks a plugin to describe itself.
pub(super) async fn describe(engine: &Engine, code: &Code) -> Result<Manifest, LoadError> {
    let ran = engine.describe(code, &limits(), &context()).await;
    match ran.result {
        Ok(Some(manifest)) => Ok(manifest),
        Ok(None) => Err(LoadError::Unstable),
        Err(stop) => Err(LoadError::Describe(why(&stop, &ran.log.bytes))),
    }
}

/// Returns the limits of a run without handles.
pub(super) fn limits() -> Limits {
    Limits {
        time: DESCRIBE_TIME_MAX,
        transfer_bytes: DESCRIBE_TRANSFER_BYTES_MAX,
        log_bytes: DESCRIBE_LOG_BYTES_MAX,
        handles: DESCRIBE_HANDLES_MAX,
        resources: DESCRIBE_HANDLES_MAX,
        host_memory_bytes: DESCRIBE_HOST_MEMORY_BYTES_MAX,
        progress_reports: 1,
        ..Limits::default()
    }
}

/// Returns the limits of a description as text. A plugin that was refused under other limits is tried again.
pub(super) fn limits_text() -> String {
    format!("{:?}", limits())
}

pub(super) fn why(stop: &Stop, log: &[u8]) -> String {
    let mut text = match stop {
        Stop::Limit(kind) => format!("the limit on {} was reached", kind.name()),
        Stop::Trapped(detail) => format!("it trapped: {}", OneLine(detail)),
        Stop::Exited(status) => format!("it exited with status {status}"),
        Stop::Cancelled => "it was cancelled".to_owned(),
        Stop::HostPanic => "the host panicked while it served the plugin".to_owned(),
    };
    if !log.is_empty() {
        // A panic message has several lines.
        let printed = String::from_utf8_lossy(log);
        let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ");
        text.push_str("; it printed: ");
        text.push_str(&OneLine(&lines).to_string());
    }
    text
}

/// Returns the context of a description or a generation. It is the same each time, so that the result does not depend
/// on it.
pub(super) fn context() -> CallContext {
    CallContext {
        id: Arc::from(""),
        session: Arc::from(""),
        message: None,
        agent: None,
        host: alone::host(0),
        approval_time: Duration::from_millis(1),
    }
}

/// Returns the settings of a plugin, and no handle.
pub(super) fn without_handles(plugin: &Plugin) -> Handles {
    let mut handles = Handles::none();
    for (key, dependency) in &plugin.dependencies {
        // The plugin must see that the key has no handle, as in a call. An undeclared key is another error.
        handles.ungranted_key(Arc::from(key.as_str()), dependency.kind);
    }
    let config = Arc::clone(&plugin.grants.config);
    handles.set_surroundings(Surroundings { config, clock: plugin.grants.clock, ..Surroundings::default() });
    handles
}
