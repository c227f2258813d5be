//! Shows an edit, asks, and replaces the policy.

use super::effects::{self, ApprovalEffect};
use super::known::{KnownPolicy, with_user};
use crate::commands::no_result::fail_as;
use crate::confirmation::confirmed;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use crate::opening;
use crate::short_id::short_id;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use crate::terminal::Terminal;
use crate::unified_diff::unified;
use anyhow::{Context as _, bail};
use portcullis::policy::Decision;
use portcullis::text::OneLine;
use portcullis_policy_edit::DecisionChange;
use serde_json::{Value, json};

/// A new text of the user's policy, and what it changes.
pub(crate) struct ReviewedEdit {
    pub(crate) text: String,
    pub(crate) changes: Vec<DecisionChange>,
    pub(crate) notes: Vec<String>,
}

/// Shows an edit, asks for confirmation unless `yes`, and replaces the policy.
///
/// # Errors
/// The new policy cannot be used, the user cannot be asked, or the file cannot be replaced.
pub(crate) async fn review(
    known: &KnownPolicy,
    edit: &ReviewedEdit,
    yes: bool,
    context: &Context,
) -> anyhow::Result<Exit> {
    let terminal = context.terminal;
    if edit.text == known.file.text() {
        if context.json {
            terminal.print(&json::document(DocumentKind::PolicyEdit, &document(known, edit, &[], false))?)?;
        } else {
            write_notes(edit, context);
            terminal.note("the policy already says this: nothing to change");
        }
        return Ok(Exit::Completed);
    }
    let staged = known.file.stage(&edit.text)?;
    let approvals = match known.host() {
        Some(old) => {
            // Opening a host checks everything that a running server checks before it takes a new policy.
            let places = with_user(&context.environment.policy, staged.path().to_owned());
            let new = opening::open_under(context, &places).await.context("the edited policy cannot be used")?;
            effects::of_edit((old, &new), &edit.changes).await?
        }
        // `KnownPolicy::read` has noted that the edit is not checked.
        None => Vec::new(),
    };
    if !context.json {
        terminal.print(&text(known, edit, &approvals, terminal))?;
        write_notes(edit, context);
    }
    if !yes {
        if !terminal.can_ask() {
            let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
            bail!(error.help("review the difference, then repeat the command with --yes"));
        }
        if !confirmed(terminal, "Change the policy?").await {
            return fail_as(FailureCode::NotConfirmed, "not confirmed: nothing was changed", Exit::Denied, context);
        }
    }
    known.file.replace(&edit.text)?;
    if context.json {
        terminal.print(&json::document(DocumentKind::PolicyEdit, &document(known, edit, &approvals, true))?)?;
    } else {
        let shown = known.file.shown.display().to_string();
        terminal.note(format_args!("changed {}; running servers use it within a second", OneLine(&shown)));
    }
    Ok(Exit::Completed)
}

fn document(known: &KnownPolicy, edit: &ReviewedEdit, approvals: &[ApprovalEffect], changed: bool) -> Value {
    let path = known.file.shown.to_string_lossy();
    json!({
        "policy": path,
        "changed": changed,
        "difference": unified(&path, Some(known.file.text()), &edit.text, Style::Plain),
        "decisions": edit.changes,
        "approvals": approvals,
        "notes": edit.notes,
    })
}

fn write_notes(edit: &ReviewedEdit, context: &Context) {
    let style = context.terminal.note_style();
    for note in &edit.notes {
        context.terminal.note(style.paint(TextStyle::Doubtful, format!("note: {}", OneLine(note))));
    }
}

fn text(known: &KnownPolicy, edit: &ReviewedEdit, approvals: &[ApprovalEffect], terminal: Terminal) -> String {
    let style = terminal.style();
    let path = known.file.shown.to_string_lossy();
    let mut text = unified(&path, Some(known.file.text()), &edit.text, style);
    text.push('\n');
    if edit.changes.is_empty() {
        text.push_str("No decision on an installed tool changes.\n");
    } else {
        text.push_str(&format!("{}\n", style.paint(TextStyle::Strong, "Decisions that change")));
        text.push_str(&decisions(&edit.changes).render_whole(style, "  ", terminal.width()));
    }
    if !approvals.is_empty() {
        text.push_str(&format!("\n{}\n", style.paint(TextStyle::Strong, "Remembered approvals")));
        text.push_str(&approval_table(approvals).render_whole(style, "  ", terminal.width()));
    }
    text
}

fn decisions(changes: &[DecisionChange]) -> Table {
    let mut table = Table::default();
    for DecisionChange { tool, when, before, after } in changes {
        let when = when.as_ref().map(|when| format!("when {when}")).unwrap_or_default();
        table.row([
            TableCell::new(TextStyle::Strong, &tool.to_string()),
            TableCell::new(look(*before), before.as_str()),
            TableCell::new(TextStyle::Quiet, "->"),
            TableCell::new(look(*after), after.as_str()),
            TableCell::plain(&when),
        ]);
    }
    table
}

fn approval_table(approvals: &[ApprovalEffect]) -> Table {
    let mut table = Table::default();
    for ApprovalEffect { id, tool, covers, effect } in approvals {
        table.row([
            TableCell::plain(short_id(id)),
            TableCell::new(TextStyle::Strong, tool),
            TableCell::plain(covers),
            TableCell::new(TextStyle::Doubtful, effect),
        ]);
    }
    table
}

fn look(decision: Decision) -> TextStyle {
    match decision {
        Decision::Allow => TextStyle::Good,
        Decision::Ask => TextStyle::Doubtful,
        Decision::Deny => TextStyle::Bad,
    }
}
