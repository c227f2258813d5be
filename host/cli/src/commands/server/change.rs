//! A change of the policy's servers: shows it, asks, and writes it.

use crate::commands::editing::{KnownPolicy, with_user};
use crate::commands::no_result::fail_as;
use crate::confirmation::confirmed;
use crate::context::Context;
use crate::environment::PolicyPlaces;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::policy_file::StagedPolicy;
use crate::style::{Style, TextStyle};
use crate::unified_diff::unified;
use anyhow::bail;
use portcullis::text::OneLine;

/// A new text of the user's policy.
pub(in crate::commands) struct ServerChange<'k> {
    pub(in crate::commands) known: &'k KnownPolicy,
    pub(in crate::commands) text: String,
    /// What the user should know before the confirmation. One sentence each.
    pub(in crate::commands) notes: Vec<String>,
}

impl ServerChange<'_> {
    /// Returns the difference of the policy.
    pub(in crate::commands) fn difference(&self, style: Style) -> String {
        let path = self.known.file.shown.to_string_lossy();
        let old = self.known.file.exists().then(|| self.known.file.text());
        unified(&path, old, &self.text, style)
    }

    /// Shows the difference and the notes.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(in crate::commands) fn show(&self, context: &Context) -> anyhow::Result<()> {
        if !context.json {
            context.terminal.print(&self.difference(context.terminal.style()))?;
            for note in &self.notes {
                let style = context.terminal.note_style();
                context.terminal.note(style.paint(TextStyle::Doubtful, format!("note: {}", OneLine(note))));
            }
        }
        Ok(())
    }

    /// Returns the new policy in a file beside the old one, and where policies are looked for with it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::commands) fn stage(&self, context: &Context) -> anyhow::Result<(StagedPolicy, PolicyPlaces)> {
        let staged = self.known.file.stage(&self.text)?;
        let places = with_user(&context.environment.policy, staged.path().to_owned());
        Ok((staged, places))
    }

    /// Replaces the policy.
    ///
    /// # Errors
    /// The policy changed meanwhile, or cannot be replaced.
    pub(in crate::commands) fn write(&self, context: &Context) -> anyhow::Result<()> {
        self.known.file.replace(&self.text)?;
        if !context.json {
            let shown = self.known.file.shown.display().to_string();
            context.terminal.note(format_args!("changed {}; running servers use it within a second", OneLine(&shown)));
        }
        Ok(())
    }
}

/// Asks for confirmation, unless `yes`. Returns the exit code if the command ends here.
///
/// # Errors
/// There is no terminal to ask at.
pub(in crate::commands) async fn confirm(what: &str, yes: bool, context: &Context) -> anyhow::Result<Option<Exit>> {
    if yes {
        return Ok(None);
    }
    if !context.terminal.can_ask() {
        let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
        bail!(error.help("review what is shown, then repeat the command with --yes"));
    }
    if confirmed(context.terminal, what).await {
        return Ok(None);
    }
    fail_as(FailureCode::NotConfirmed, "not confirmed: nothing was changed", Exit::Denied, context).map(Some)
}
