//! `portcullis pause` and `portcullis resume`.

use super::known::KnownPolicy;
use super::review::{ReviewedEdit, review};
use crate::arguments::{PauseArguments, ResumeArguments};
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::policy_pause::{self, REASON_DEFAULT};
use anyhow::Context as _;
use portcullis::text::OneLine;
use portcullis_policy_edit::{PolicyEdit, apply};
use serde_json::json;

/// Pauses the policy. Asks nothing and opens no host, because it is for emergencies.
///
/// # Errors
/// The policy cannot be read or replaced, or has an error.
pub(in crate::commands) fn pause(arguments: &PauseArguments, context: &Context) -> anyhow::Result<Exit> {
    let reason = arguments.reason.as_deref().unwrap_or(REASON_DEFAULT);
    let shown = policy_pause::pause(&context.environment.policy, reason).context("not paused")?.display().to_string();
    if context.json {
        let document = json!({ "policy": shown, "paused": { "layer": "user", "reason": reason } });
        context.terminal.print(&json::document(DocumentKind::Pause, &document)?)?;
    } else {
        context.terminal.note(format_args!(
            "paused: every new call is refused, also by running servers that use {}; `portcullis resume` ends it",
            OneLine(&shown)
        ));
    }
    Ok(Exit::Completed)
}

/// Ends the pause.
///
/// # Errors
/// The policy is not paused, or cannot be read or replaced.
pub(in crate::commands) async fn resume(arguments: &ResumeArguments, context: &Context) -> anyhow::Result<Exit> {
    let known = KnownPolicy::read(context).await?;
    let edited = apply(&known.layers(known.file.text()), &PolicyEdit::Resume, &known.tools())?;
    let notes = vec!["the rules decide about every call again".to_owned()];
    let edited = ReviewedEdit { text: edited.text, changes: edited.changes, notes };
    review(&known, &edited, arguments.yes, context).await
}
