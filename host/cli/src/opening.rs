//! Opening the library's host, or only its engine, as the command line says.

use crate::commands::Context;
use crate::environment::PolicyPlace;
use crate::progress::{CallProgress, CompileProgress, StatusLine};
use portcullis::policy::Limits;
use portcullis::{Approver, DenyAll, Engine, EngineConfig, Host, LoadError, Manifest, Observer};
use std::sync::Arc;

/// Opens the host of a command that asks nobody.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open(context: &Context) -> anyhow::Result<Host> {
    open_with(context, &StatusLine::new(context.terminal), Arc::new(DenyAll)).await
}

/// Opens the host with who answers, and with the line that progress is shown on.
///
/// # Errors
/// The host cannot open.
pub(crate) async fn open_with(
    context: &Context,
    status: &Arc<StatusLine>,
    approver: Arc<dyn Approver>,
) -> anyhow::Result<Host> {
    let environment = &context.environment;
    let (policy, required) = match &environment.policy {
        PolicyPlace::Named(path) => (path, true),
        PolicyPlace::Usual(path) => (path, false),
    };
    let builder = Host::builder(&environment.plugins, environment.state()?, environment.compiler.clone())
        .policy_file(policy, required)
        .approver(approver)
        .observer(Arc::new(CompileProgress::new(status)))
        .progress(Arc::new(CallProgress::new(status)))
        // One process makes one call.
        .calls(1);
    Ok(builder.open().await?)
}

/// Loads bytes as far as their description, under a name, outside of any host.
///
/// # Errors
/// The engine cannot start; or, within, why the bytes would not load.
pub(crate) async fn describe(
    context: &Context,
    name: &str,
    bytes: &[u8],
) -> anyhow::Result<Result<Manifest, LoadError>> {
    let engine = Engine::new(&EngineConfig { calls: 1, largest: Limits::default() })?;
    let progress = CompileProgress::new(&StatusLine::new(context.terminal));
    if let Ok(name) = portcullis::policy::PluginName::new(name) {
        progress.compiling(&name);
    }
    let described = portcullis::check(name, bytes, &engine, &context.environment.compiler).await;
    progress.finish();
    Ok(described)
}
