//! `portcullis server add --replace`: starts a server from another version of its package, after showing what changes.

use super::add::{finish, package_document};
use super::change::{ServerChange, confirm};
use super::first_start::FirstStart;
use super::packages::{Packages, package_of, program_of};
use crate::arguments::ServerAddArguments;
use crate::commands::editing::KnownPolicy;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::wrap::wrapped;
use anyhow::{Context as _, bail};
use portcullis::policy::Policy;
use portcullis_packages::{DependencyVersions, PackageDifference, PackageSpec, VersionChange, difference};
use portcullis_policy_edit::{PolicyEdit, apply};
use serde_json::{Value, json};

/// Replaces the package of a server.
///
/// # Errors
/// The policy has no such server, the package cannot be installed, or the new policy cannot be used.
pub(super) async fn run(arguments: &ServerAddArguments, context: &Context) -> anyhow::Result<Exit> {
    let name = &arguments.name;
    let spec: PackageSpec = arguments
        .package
        .as_deref()
        .context("--replace needs a package")?
        .parse()
        .code(FailureCode::PackageUnavailable)?;
    let known = KnownPolicy::read_alone(context).await?;
    let edit = PolicyEdit::SetPackage { name: name.clone(), spec: spec.to_string() };
    let edited = apply(&known.layers(known.file.text()), &edit, &[])?;
    let old_policy = Policy::parse(known.file.text())?;
    let old = package_of(&old_policy, name).context("the policy names no package that can be replaced")?;
    check_same_package(&old, &spec)?;
    let package = program_of(&old_policy, name).and_then(|process| process.server_package());
    let program = package.and_then(|package| package.program.as_deref());
    let packages = Packages::open(context)?;
    let before = packages.find(&old)?;
    let new = packages.ensure(&spec, program, context).await?;
    let update = before.as_ref().map(|before| difference(before, &new.installed));
    let mut notes = edited.notes;
    if update.is_none() {
        notes.push(format!("{old} is not installed here, so its dependencies cannot be compared"));
    }
    if let Some(update) = update.as_ref().filter(|_| !context.json) {
        context.terminal.print(&wrapped(&format!("{update}\n"), context.terminal.width()))?;
    }
    let change = ServerChange { known: &known, text: edited.text, notes };
    change.show(context)?;
    if let Some(exit) = confirm("Replace the package, and start the server once?", arguments.yes, context).await? {
        if new.is_new {
            packages.remove_unused(&spec, context)?;
        }
        return Ok(exit);
    }
    let (staged, places) = change.stage(context)?;
    let started = FirstStart::of(name, &places, context).await?;
    drop(staged);
    change.write(context)?;
    // Only now, because the policy has named the old version until here.
    if old != spec {
        packages.remove_unused(&old, context)?;
    }
    let mut package = package_document(&new.installed);
    package["update"] = update.as_ref().map_or(Value::Null, update_document);
    finish(arguments, &change, &started, Some(&package), context)
}

/// Refuses another package. Its tools are not an update of those that were accepted.
fn check_same_package(old: &PackageSpec, new: &PackageSpec) -> anyhow::Result<()> {
    if (old.kind(), old.name()) == (new.kind(), new.name()) {
        return Ok(());
    }
    let error = CommandError::new(FailureCode::Usage, format!("{new} is another package than {old}"));
    bail!(error.help("remove the server first, and add the other package under a name of its own"))
}

fn update_document(update: &PackageDifference) -> Value {
    let versions = |list: &[DependencyVersions]| -> Vec<Value> {
        list.iter().map(|dependency| json!({ "name": dependency.name, "versions": dependency.versions })).collect()
    };
    let change = |change: &VersionChange| json!({ "name": change.name, "old": change.old, "new": change.new });
    json!({
        "old": update.old,
        "new": update.new,
        "added": versions(&update.added),
        "removed": versions(&update.removed),
        "republished": versions(&update.republished),
        "changed": update.changed.iter().map(change).collect::<Vec<_>>(),
    })
}
