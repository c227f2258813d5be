//! `portcullis server remove`: removes the section of a server, and its package if nothing else uses it.

use super::change::{ServerChange, confirm};
use super::packages::{Packages, address_of, package_of};
use crate::arguments::ServerRemoveArguments;
use crate::commands::editing::KnownPolicy;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::style::Style;
use portcullis::logins::LoginStatus;
use portcullis::policy::{PluginName, Policy};
use portcullis_policy_edit::{PolicyEdit, apply};
use serde_json::json;

/// Removes a server.
///
/// # Errors
/// The policy has no such server, or cannot be replaced.
pub(super) async fn run(arguments: &ServerRemoveArguments, context: &Context) -> anyhow::Result<Exit> {
    let name = &arguments.name;
    let known = KnownPolicy::read_alone(context).await?;
    let edit = PolicyEdit::RemoveServer { name: name.clone() };
    let edited = apply(&known.layers(known.file.text()), &edit, &[])?;
    let old = Policy::parse(known.file.text())?;
    let stays = [rules_that_stay(&old, name), login_that_stays(&old, name, context).await];
    let notes = edited.notes.into_iter().chain(stays.into_iter().flatten()).collect();
    let change = ServerChange { known: &known, text: edited.text, notes };
    change.show(context)?;
    if let Some(exit) = confirm("Remove the server?", arguments.yes, context).await? {
        return Ok(exit);
    }
    change.write(context)?;
    // After the policy was written, so that it never names a package that is gone.
    let removed = match package_of(&old, name) {
        Some(spec) if Packages::open(context)?.remove_unused(&spec, context)? => Some(spec),
        Some(_) | None => None,
    };
    if context.json {
        let document = json!({
            "server": name,
            "policy": known.file.shown.to_string_lossy(),
            "changed": true,
            "difference": change.difference(Style::Plain),
            "notes": change.notes,
            "removed_package": removed,
        });
        context.terminal.print(&json::document(DocumentKind::ServerRemoval, &document)?)?;
    } else if let Some(spec) = removed {
        context.terminal.note(format_args!("removed the package {spec}"));
    }
    Ok(Exit::Completed)
}

/// Returns the note about the login to the server. Another policy of the user may name the same server.
async fn login_that_stays(policy: &Policy, name: &PluginName, context: &Context) -> Option<String> {
    address_of(policy, name)?.login.as_ref()?;
    let host = opening::open_policy(context).await.ok()?;
    let is_logged_in = matches!(host.login_status(name).await, Ok(LoginStatus::LoggedIn { .. }));
    is_logged_in.then(|| format!("the login to {name} stays: to revoke it, run `portcullis logout {name}` before"))
}

/// Returns the note about rules that name the server. They would apply to anything else of this name.
fn rules_that_stay(policy: &Policy, name: &PluginName) -> Option<String> {
    let naming = policy.rules().iter().filter(|rule| rule.tool.named_plugins().any(|named| named == *name));
    let ids: Vec<String> = naming.map(|rule| rule.id.to_string()).collect();
    (!ids.is_empty())
        .then(|| format!("rules that name {name} stay, and apply to a later server of this name: {}", ids.join(", ")))
}
