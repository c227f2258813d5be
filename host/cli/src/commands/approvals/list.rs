//! `portcullis approvals list`: lists the open approval requests and the remembered approvals.

use super::super::Context;
use super::opened::open;
use crate::arguments::ListArguments;
use crate::exit_code::Exit;
use crate::json::{self, DocumentKind};
use crate::pause_note::pause_note;
use crate::policy_pause;
use crate::short_id::short_id;
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use crate::time::{Now, ago, ahead};
use portcullis::approvals::{HeldAnswer, Listing, OpenQuestion, Status, Subject};
use portcullis::text::OneLine;

pub(super) async fn run(arguments: &ListArguments, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context).await?;
    let listing = if arguments.all { approvals.list_all().await? } else { approvals.list().await? };
    if context.json {
        context.terminal.print(&json::document(DocumentKind::Approvals, &listing)?)?;
    } else {
        context.terminal.show(&text(&listing, context.terminal.style(), context.terminal.width()))?;
        if let Some(pause) = policy_pause::of_files(&context.environment.policy) {
            context.terminal.note(context.terminal.note_style().paint(TextStyle::Bad, pause_note(&pause)));
        }
    }
    // Rows that this host did not write have no effect. They show that the ledger was changed.
    for fault in &listing.faults {
        let label = context.terminal.note_style().paint(TextStyle::Bad, "a ledger entry is ignored:");
        context.terminal.note(format_args!("{label} {}", OneLine(fault)));
    }
    Ok(if listing.faults.is_empty() { Exit::Completed } else { Exit::RecordDamaged })
}

fn text(listing: &Listing, style: Style, width: Option<usize>) -> String {
    let now = Now::read();
    let mut text = String::new();
    if listing.questions.is_empty() {
        text.push_str("There are no open approval requests.\n");
    } else {
        text.push_str(&questions(&listing.questions, now).render(style, "", width));
    }
    if !listing.answers.is_empty() {
        text.push('\n');
        text.push_str(&answers(&listing.answers, now).render(style, "", width));
    }
    text
}

fn heading<const N: usize>(names: [&str; N]) -> [TableCell; N] {
    names.map(|name| TableCell::new(TextStyle::Quiet, name))
}

fn questions(questions: &[OpenQuestion], now: Now) -> Table {
    let mut table = Table::default();
    table.row(heading(["REQUEST", "MADE", "TOOL", "FOR", "STATE", "WHAT"]));
    for question in questions {
        let (look, state) = state(question);
        table.row([
            TableCell::plain(short_id(&question.id)),
            TableCell::new(TextStyle::Quiet, &ago(question.asked_at.as_millisecond(), now)),
            TableCell::new(TextStyle::Strong, &question.tool),
            TableCell::plain(&format!("{}, {}", question.principal, question.session)),
            TableCell::new(look, state),
            TableCell::plain(what(question)),
        ]);
    }
    table
}

fn answers(answers: &[HeldAnswer], now: Now) -> Table {
    let mut table = Table::default();
    table.row(heading(["APPROVAL", "TOOL", "FOR", "GIVEN", "LAST USED", "USES", "EXPIRES", "COVERS"]));
    for answer in answers {
        let used = answer.used_at.map_or_else(|| "never".to_owned(), |at| ago(at.as_millisecond(), now));
        table.row([
            TableCell::plain(short_id(&answer.id)),
            TableCell::new(TextStyle::Strong, &answer.tool),
            TableCell::plain(&format!("{}, {}", answer.principal, scope(answer))),
            TableCell::new(TextStyle::Quiet, &ago(answer.given_at.as_millisecond(), now)),
            TableCell::new(TextStyle::Quiet, &used),
            TableCell::plain(&answer.uses.to_string()),
            TableCell::new(TextStyle::Quiet, &expiry(answer, now)),
            TableCell::plain(&answer.covers),
        ]);
    }
    table
}

/// Returns the state of a request, for people.
pub(super) fn state(question: &OpenQuestion) -> (TextStyle, &'static str) {
    match (question.status, question.waited_for) {
        (Status::Pending, true) => (TextStyle::Doubtful, "a call waits"),
        (Status::Pending, false) => (TextStyle::Doubtful, "no call waits"),
        (Status::Approved, true) => (TextStyle::Good, "approved"),
        (Status::Approved, false) => (TextStyle::Doubtful, "approved, not run"),
        (Status::Running | Status::Done, _) => (TextStyle::Good, question.status.as_str()),
        (Status::Rejected | Status::Lost, _) => (TextStyle::Bad, question.status.as_str()),
        (Status::Expired | Status::Withdrawn, _) => (TextStyle::Quiet, question.status.as_str()),
    }
}

/// Returns the sessions that an approval covers.
pub(super) fn scope(answer: &HeldAnswer) -> String {
    answer.session.as_ref().map_or_else(|| "always".to_owned(), |session| format!("session {session}"))
}

/// Returns when an approval expires, or when it was revoked.
pub(super) fn expiry(answer: &HeldAnswer, now: Now) -> String {
    match answer.revoked_at {
        Some(at) => format!("revoked {}", ago(at.as_millisecond(), now)),
        None => ahead(answer.expires_at.as_millisecond(), now),
    }
}

/// Returns the arguments or the resource of a request, on one line.
fn what(question: &OpenQuestion) -> &str {
    match &question.question {
        None => question.note.as_deref().unwrap_or_default(),
        // What a running call asks for is not in its arguments.
        Some(asked) => match &asked.subject {
            Subject::Call | Subject::Repeat | Subject::Calls(_) => &asked.arguments,
            Subject::Resource { resource, .. } => resource,
        },
    }
}
