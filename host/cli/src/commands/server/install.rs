//! `portcullis server install`: installs the packages of the policy that this machine lacks.

use super::packages::{Packages, UsablePackage, package_of, program_of};
use crate::arguments::ServerInstallArguments;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use anyhow::bail;
use portcullis::policy::{PluginName, Policy};
use serde_json::{Value, json};

/// Installs the missing packages.
///
/// # Errors
/// The policy has no such server, or a package cannot be installed.
pub(super) async fn run(arguments: &ServerInstallArguments, context: &Context) -> anyhow::Result<Exit> {
    let policy = opening::open_policy(context).await?.policy();
    check_names(&policy, &arguments.names)?;
    let is_wanted = |name: &&PluginName| arguments.names.is_empty() || arguments.names.contains(name);
    let packages = Packages::open(context)?;
    let mut installed = Vec::new();
    for name in policy.servers().filter(is_wanted) {
        let Some(spec) = package_of(&policy, name) else { continue };
        let package = program_of(&policy, name).and_then(|process| process.server_package());
        let program = package.and_then(|package| package.program.as_deref());
        installed.push((name.clone(), packages.ensure(&spec, program, context).await?));
    }
    show(&installed, context)?;
    Ok(Exit::Completed)
}

fn check_names(policy: &Policy, names: &[PluginName]) -> anyhow::Result<()> {
    match names.iter().find(|name| policy.server(name).is_none()) {
        None => Ok(()),
        Some(unknown) => {
            let error = CommandError::new(FailureCode::UnknownPlugin, format!("the policy has no server {unknown}"));
            bail!(error.help("`portcullis server list` shows its servers"))
        }
    }
}

fn show(installed: &[(PluginName, UsablePackage)], context: &Context) -> anyhow::Result<()> {
    if context.json {
        let server = |(name, package): &(PluginName, UsablePackage)| -> Value {
            let UsablePackage { installed, is_new } = package;
            json!({ "name": name, "package": installed.spec(), "tree_sha256": installed.tree_hash(), "installed": is_new })
        };
        let document = json!({ "servers": installed.iter().map(server).collect::<Vec<_>>() });
        return Ok(context.terminal.print(&json::document(DocumentKind::ServerInstall, &document)?)?);
    }
    if installed.is_empty() {
        context.terminal.note("no server of the policy is started from a package: nothing to install");
    }
    let mut table = Table::default();
    for (name, package) in installed {
        table.row([
            TableCell::new(TextStyle::Strong, name.as_str()),
            TableCell::new(TextStyle::Good, if package.is_new { "installed" } else { "was installed" }),
            TableCell::plain(&package.installed.spec().to_string()),
        ]);
    }
    Ok(context.terminal.print(&table.render_whole(context.terminal.style(), "", context.terminal.width()))?)
}
