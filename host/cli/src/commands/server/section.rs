//! Makes the section of a server from the arguments of `server add`.

use crate::arguments::ServerAddArguments;
use crate::context::Context;
use crate::failure::{CommandError, FailureCode};
use crate::secret_words::{is_secret, secret_word};
use anyhow::{Context as _, bail};
use portcullis::plugins::is_reserved;
use portcullis::policy::PluginName;
use portcullis::text::OneLine;
use portcullis_packages::PackageSpec;
use portcullis_policy_edit::{ServerDirectory, ServerEdit, ServerStart};
use std::path::Path;

/// Returns the section that the arguments describe.
///
/// # Errors
/// A path cannot be resolved, or a value is probably a secret.
pub(super) fn of_arguments(arguments: &ServerAddArguments, spec: Option<&PackageSpec>) -> anyhow::Result<ServerEdit> {
    let start = match spec {
        Some(spec) => ServerStart::Package {
            spec: spec.to_string(),
            program: arguments.program.clone(),
            arguments: arguments.program_arguments.clone(),
        },
        None => ServerStart::Command(arguments.command.clone()),
    };
    check_secrets(arguments)?;
    let directories = arguments.directory.iter().map(|directory| {
        let path = absolute(&directory.path)?;
        Ok(ServerDirectory { key: directory.key.clone(), path, access: directory.access })
    });
    Ok(ServerEdit {
        directories: directories.collect::<anyhow::Result<_>>()?,
        hosts: arguments.host.clone(),
        environment: arguments.variables.clone(),
        ..ServerEdit::new(arguments.name.clone(), start)
    })
}

/// Refuses secrets, because a policy is shown to approvers and may be shared.
fn check_secrets(arguments: &ServerAddArguments) -> anyhow::Result<()> {
    let is_source = |value: &str| value.starts_with("env:") || value.starts_with("file:");
    let secret = |(name, value): &&(String, String)| !is_source(value) && is_secret(name, value);
    if let Some((name, _)) = arguments.variables.iter().find(secret) {
        let name = OneLine(name);
        let what = format!("the value of {name} looks like a secret, and a policy must not contain one");
        bail!(
            CommandError::new(FailureCode::Usage, what).help(format!(
                "write --env {name}=env:VARIABLE with a variable of the host, or --env {name}=file:PATH"
            ))
        );
    }
    if let Some(at) = secret_word(&arguments.program_arguments).or_else(|| secret_word(&arguments.command)) {
        let what = format!("argument {} looks like a secret, and a policy must not contain one", at + 1);
        bail!(CommandError::new(FailureCode::Usage, what).help("give it to the server as a variable, with --env"));
    }
    Ok(())
}

/// Returns a path that does not depend on where the policy is.
fn absolute(path: &str) -> anyhow::Result<String> {
    if path == "~" || path.starts_with("~/") || path.starts_with("$HOME") {
        return Ok(path.to_owned());
    }
    let absolute = std::path::absolute(Path::new(path)).with_context(|| OneLine(path).to_string())?;
    let absolute = absolute.to_str().context("the path of the working directory is not UTF-8")?;
    Ok(absolute.to_owned())
}

/// Refuses a name that a plugin has or that the host keeps for itself.
///
/// # Errors
/// The name cannot be that of a server.
pub(in crate::commands) fn check_name(name: &PluginName, context: &Context) -> anyhow::Result<()> {
    if is_reserved(name) {
        let error = CommandError::new(FailureCode::Usage, format!("the host keeps the name {name} for its own tools"));
        bail!(error.help("choose another name"));
    }
    let file = context.environment.plugins.file(&format!("{name}.wasm"));
    if file.symlink_metadata().is_ok() {
        let file = file.display().to_string();
        let what = format!("a plugin has the name {name} already: {}", OneLine(&file));
        bail!(CommandError::new(FailureCode::Usage, what).help("choose another name for the server"));
    }
    Ok(())
}
