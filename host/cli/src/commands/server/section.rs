//! Makes the section of a server from the arguments of `server add`.

use crate::arguments::ServerAddArguments;
use crate::context::Context;
use crate::failure::{CommandError, FailureCode};
use crate::secret_words::{is_secret, names_source, secret_word, url_has_secret};
use anyhow::{Context as _, bail};
use portcullis::plugins::is_reserved;
use portcullis::policy::PluginName;
use portcullis::text::OneLine;
use portcullis_packages::PackageSpec;
use portcullis_policy_edit::{ServerAddressEdit, ServerDirectory, ServerEdit, ServerSecretEdit, ServerStart};
use std::path::Path;

/// Returns the section that the arguments describe.
///
/// # Errors
/// A path cannot be resolved, or a value is probably a secret.
pub(super) fn of_arguments(arguments: &ServerAddArguments, spec: Option<&PackageSpec>) -> anyhow::Result<ServerEdit> {
    let start = match (spec, &arguments.url) {
        (_, Some(url)) => ServerStart::Address(address(url, arguments)?),
        (Some(spec), None) => ServerStart::Package {
            spec: spec.to_string(),
            program: arguments.program.clone(),
            arguments: arguments.program_arguments.clone(),
        },
        (None, None) => ServerStart::Command(arguments.command.clone()),
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

/// Returns the address that the arguments describe.
fn address(url: &str, arguments: &ServerAddArguments) -> anyhow::Result<ServerAddressEdit> {
    let bearer = |from: &String| ServerSecretEdit {
        header: "authorization".to_owned(),
        value: "Bearer {}".to_owned(),
        from: from.clone(),
    };
    let mut secrets: Vec<ServerSecretEdit> = arguments.token.iter().map(bearer).collect();
    let mut headers = Vec::new();
    for (name, value) in &arguments.headers {
        let name = name.to_ascii_lowercase();
        match names_source(value) {
            true => secrets.push(ServerSecretEdit { header: name, value: "{}".to_owned(), from: value.clone() }),
            false => headers.push((name, value.clone())),
        }
    }
    if secrets.len() > 1 {
        bail!(
            CommandError::new(FailureCode::Usage, "a server can have one secret")
                .help("keep --token or one --header with a source")
        );
    }
    Ok(ServerAddressEdit { url: url.to_owned(), logs_in: arguments.oauth, headers, secret: secrets.pop() })
}

/// Refuses secrets, because a policy is shown to approvers and may be shared.
fn check_secrets(arguments: &ServerAddArguments) -> anyhow::Result<()> {
    let secret = |(name, value): &&(String, String)| !names_source(value) && is_secret(name, value);
    let named = arguments.variables.iter().map(|pair| ("--env", pair));
    let named = named.chain(arguments.headers.iter().map(|pair| ("--header", pair)));
    if let Some((option, (name, _))) = named.into_iter().find(|(_, pair)| secret(pair)) {
        let name = OneLine(name);
        let what = format!("the value of {name} looks like a secret, and a policy must not contain one");
        bail!(CommandError::new(FailureCode::Usage, what).help(format!(
            "write {option} {name}=env:VARIABLE with a variable of the host, or {option} {name}=file:PATH"
        )));
    }
    if arguments.url.as_deref().is_some_and(url_has_secret) {
        let error = CommandError::new(FailureCode::Usage, "the address has a password or a token in it");
        bail!(error.help("give it with --token or --header"));
    }
    if let Some(at) = secret_word(&arguments.program_arguments).or_else(|| secret_word(&arguments.command)) {
        let what = format!("argument {} looks like a secret, and a policy must not contain one", at + 1);
        bail!(CommandError::new(FailureCode::Usage, what).help("give it to the server as a variable, with --env"));
    }
    Ok(())
}

/// Returns a path that does not depend on where the policy is.
fn absolute(path: &str) -> anyhow::Result<String> {
    // The host fills these in when it reads the policy.
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
