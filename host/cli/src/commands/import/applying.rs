//! Writes what the plan says: secrets, packages, the policy, and the configurations of agents, in this order. A server
//! that the host cannot be opened with is left out, and the others are imported.

use super::plan::ImportPlan;
use super::proposal::Proposal;
use super::replacing::{self, ReplacedFile, Replacements};
use super::secret_files;
use crate::arguments::ImportArguments;
use crate::commands::editing::KnownPolicy;
use crate::commands::server::change::ServerChange;
use crate::commands::server::first_start::FirstStart;
use crate::commands::server::packages::Packages;
use crate::context::Context;
use portcullis_policy_edit::{PolicyEdit, ServerStart, apply};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was done.
pub(super) struct AppliedImport {
    /// The new text of the policy.
    pub(super) text: String,
    /// What became of each proposal, by the position of its server.
    pub(super) outcomes: BTreeMap<usize, Result<FirstStart, String>>,
    pub(super) replaced: Vec<ReplacedFile>,
    /// Configurations that could not be changed.
    pub(super) problems: Vec<(PathBuf, String)>,
}

/// Applies a plan that the user has confirmed.
///
/// # Errors
/// The policy cannot be replaced.
pub(super) async fn run(
    plan: &ImportPlan,
    known: &KnownPolicy,
    arguments: &ImportArguments,
    context: &Context,
) -> anyhow::Result<AppliedImport> {
    let (mut text, mut outcomes) = (known.file.text().to_owned(), BTreeMap::new());
    for (at, proposal) in plan.proposals() {
        let outcome = match import(proposal, known, &text, context).await {
            Ok((next, started)) => {
                text = next;
                Ok(started)
            }
            Err(error) => Err(format!("{error:#}")),
        };
        outcomes.insert(at, outcome);
    }
    // The agents lose their own entries only after the policy has the servers.
    if text != known.file.text() {
        ServerChange { known, text: text.clone(), notes: Vec::new() }.write(context)?;
    }
    let is_imported = |at: usize| outcomes.get(&at).is_some_and(Result::is_ok);
    let Replacements { replaced, problems } = match arguments.replace {
        true => replacing::run(plan, is_imported, context)?,
        false => Replacements::default(),
    };
    Ok(AppliedImport { text, outcomes, replaced, problems })
}

/// Returns the policy with one more server, and what its first start has shown.
async fn import(
    proposal: &Proposal,
    known: &KnownPolicy,
    text: &str,
    context: &Context,
) -> anyhow::Result<(String, FirstStart)> {
    // Checked before any file is written: names of secret files contain names that only the policy has checked.
    let edited = apply(&known.layers(text), &PolicyEdit::AddServer(proposal.edit.clone()), &[])?;
    secret_files::write(&proposal.files)?;
    if let (Some((spec, _)), ServerStart::Package { program, .. }) = (&proposal.package, &proposal.edit.start) {
        Packages::open(context)?.ensure(spec, program.as_deref(), context).await?;
    }
    let change = ServerChange { known, text: edited.text, notes: Vec::new() };
    // Held until the server has started, because dropping it removes the file.
    let (_staged, places) = change.stage(context)?;
    let started = FirstStart::of(&proposal.edit.name, &places, context).await?;
    Ok((change.text, started))
}
