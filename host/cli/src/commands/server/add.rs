//! `portcullis server add`: installs a package, adds the section of the server, and starts it once.

use super::change::{ServerChange, confirm};
use super::first_start::FirstStart;
use super::packages::Packages;
use super::section;
use crate::arguments::ServerAddArguments;
use crate::commands::editing::KnownPolicy;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::style::Style;
use crate::wrap::wrapped;
use portcullis_packages::{InstalledPackage, PackageSpec};
use portcullis_policy_edit::{PolicyEdit, apply};
use serde_json::{Value, json};

/// Adds a server.
///
/// # Errors
/// The name is taken, the package cannot be installed, or the new policy cannot be used.
pub(super) async fn run(arguments: &ServerAddArguments, context: &Context) -> anyhow::Result<Exit> {
    let name = &arguments.name;
    let spec: Option<PackageSpec> =
        arguments.package.as_deref().map(str::parse).transpose().code(FailureCode::PackageUnavailable)?;
    let known = KnownPolicy::read_alone(context).await?;
    section::check_name(name, context)?;
    let edit = PolicyEdit::AddServer(section::of_arguments(arguments, spec.as_ref())?);
    let edited = apply(&known.layers(known.file.text()), &edit, &[])?;
    let package = match &spec {
        Some(spec) => Some(Packages::open(context)?.ensure(spec, arguments.program.as_deref(), context).await?),
        None => None,
    };
    let change = ServerChange { known: &known, text: edited.text, notes: edited.notes };
    change.show(context)?;
    if let Some(exit) = confirm("Add the server, and start it once?", arguments.yes, context).await? {
        // A package that was installed before stays, because the user did not ask to remove it.
        if let (Some(spec), Some(true)) = (&spec, package.map(|package| package.is_new)) {
            Packages::open(context)?.remove_unused(spec, context)?;
        }
        return Ok(exit);
    }
    let (staged, places) = change.stage(context)?;
    let started = FirstStart::of(name, &places, context).await?;
    drop(staged);
    change.write(context)?;
    let package = package.as_ref().map(|package| package_document(&package.installed));
    finish(arguments, &change, &started, package.as_ref(), context)
}

/// Shows what the start has shown.
///
/// # Errors
/// The output cannot be written.
pub(super) fn finish(
    arguments: &ServerAddArguments,
    change: &ServerChange<'_>,
    started: &FirstStart,
    package: Option<&Value>,
    context: &Context,
) -> anyhow::Result<Exit> {
    if context.json {
        let document = json!({
            "server": arguments.name,
            "policy": change.known.file.shown.to_string_lossy(),
            "changed": true,
            "difference": change.difference(Style::Plain),
            "notes": change.notes,
            "package": package,
            "start": started,
        });
        context.terminal.print(&json::document(DocumentKind::ServerEdit, &document)?)?;
    } else {
        context.terminal.print(&wrapped(&started.text(&arguments.name, context)?, context.terminal.width()))?;
    }
    Ok(if started.starts { Exit::Completed } else { Exit::PluginRefused })
}

/// Returns a package for programs.
pub(super) fn package_document(installed: &InstalledPackage) -> Value {
    json!({
        "spec": installed.spec(),
        "tree_sha256": installed.tree_hash(),
        "dependencies": installed.dependencies().len(),
        "update": null,
    })
}
