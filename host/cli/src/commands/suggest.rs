//! `portcullis suggest`: proposes the smallest policy that would have allowed what was approved.
//!
//! It reads the audit log and the remembered approvals, and changes nothing without `--apply`.

mod approved;
mod held;
mod left_out;

use super::editing::{KnownPolicy, ReviewedEdit, review};
use crate::arguments::SuggestArguments;
use crate::context::Context;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use approved::Evidence;
use left_out::LeftOut;
use portcullis::text::Lines;
use portcullis_policy_edit::{PolicyEdit, RuleEdit, apply, proposals, rule_lines};
use serde::Serialize;
use serde_json::json;

/// A rule that would have allowed what was approved.
#[derive(Serialize)]
struct Proposal {
    tool: String,
    /// How many approved calls it would have allowed. None for a remembered approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<usize>,
    /// What was approved.
    because: String,
    /// The lines of the rule.
    rule: String,
}

/// The proposals, and the policy with all of them.
struct Suggestion {
    proposals: Vec<Proposal>,
    left_out: Vec<LeftOut>,
    edit: ReviewedEdit,
}

pub(super) async fn run(arguments: &SuggestArguments, context: &Context) -> anyhow::Result<Exit> {
    let known = KnownPolicy::read(context).await?;
    let (evidence, exit) = Evidence::read(context, known.catalog()).await?;
    let held = match known.host() {
        Some(host) => host.approvals().list().await?.answers,
        None => Vec::new(),
    };
    let (held, mut left_out) = held::rules(&held);
    left_out.extend(evidence.left_out);
    let of_calls = proposals(&evidence.calls).into_iter().map(|found| (found.rule, Some(found.calls), String::new()));
    let of_held = held.into_iter().map(|(rule, id)| (rule, None, format!("remembered approval {id}")));
    // Remembered approvals first: a rule for one may already allow some of the calls.
    let suggestion = suggestion(&known, of_held.chain(of_calls), left_out);
    // With --apply, the edit is the one document of the command.
    if context.json && !arguments.apply {
        let document = json!({
            "policy": known.file.shown.to_string_lossy(),
            "proposals": suggestion.proposals,
            "left_out": suggestion.left_out,
        });
        context.terminal.print(&json::document(DocumentKind::Suggestion, &document)?)?;
    } else if !context.json {
        context.terminal.print(&text(&suggestion, context.terminal.style(), context.terminal.width()))?;
    }
    if arguments.apply && !suggestion.proposals.is_empty() {
        let reviewed = review(&known, &suggestion.edit, arguments.yes, context).await?;
        return Ok(if reviewed == Exit::Completed { exit } else { reviewed });
    }
    Ok(exit)
}

/// Applies each rule to the policy. Leaves out a rule that the policy has already, and one that a stricter rule leaves
/// without effect.
fn suggestion(
    known: &KnownPolicy,
    rules: impl Iterator<Item = (RuleEdit, Option<usize>, String)>,
    mut left_out: Vec<LeftOut>,
) -> Suggestion {
    let tools = known.tools();
    let mut edit = ReviewedEdit { text: known.file.text().to_owned(), changes: Vec::new(), notes: Vec::new() };
    let mut proposals = Vec::new();
    for (rule, calls, because) in rules {
        let lines = rule_lines(&rule);
        let tool = rule.tool.clone();
        let because = match calls {
            Some(1) => "1 approved call".to_owned(),
            Some(calls) => format!("{calls} approved calls"),
            None => because,
        };
        match apply(&known.layers(&edit.text), &PolicyEdit::Rule(rule), &tools) {
            Ok(edited) if edited.changes.is_empty() => {
                left_out.push(LeftOut { tool, why: format!("{because}: the policy already allows this") });
            }
            Ok(edited) => {
                edit.text = edited.text;
                // Collected first, because the filter borrows the list that grows.
                edit.changes.extend(
                    edited.changes.into_iter().filter(|change| !edit.changes.contains(change)).collect::<Vec<_>>(),
                );
                proposals.push(Proposal { tool, calls, because, rule: lines });
            }
            Err(error) => left_out.push(LeftOut { tool, why: format!("{because}: {error}") }),
        }
    }
    if !proposals.is_empty() {
        edit.notes.push("a rule allows every value of the arguments that it does not name, such as content".to_owned());
    }
    Suggestion { proposals, left_out, edit }
}

fn text(suggestion: &Suggestion, style: Style, width: Option<usize>) -> String {
    let mut text = String::new();
    if suggestion.proposals.is_empty() {
        text.push_str("There is nothing to propose.\n");
    }
    for Proposal { because, rule, .. } in &suggestion.proposals {
        text.push_str(&format!("{}\n{}\n", style.paint(TextStyle::Quiet, format!("# {because}")), Lines(rule)));
    }
    if !suggestion.left_out.is_empty() {
        text.push_str(&format!("{}\n", style.paint(TextStyle::Strong, "Left out")));
        let mut table = Table::default();
        for LeftOut { tool, why } in &suggestion.left_out {
            table.row([TableCell::new(TextStyle::Strong, tool), TableCell::plain(why)]);
        }
        text.push_str(&table.render_whole(style, "  ", width));
    }
    text
}
