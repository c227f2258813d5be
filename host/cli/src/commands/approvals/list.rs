//! `portcullis approvals list`: the questions that wait, and the answers that hold.

use super::super::Context;
use super::super::waiting::ID_DIGITS;
use crate::arguments::ListArguments;
use crate::exit_code::Exit;
use crate::json;
use crate::style::{Look, Style};
use crate::table::{Cell, Table};
use crate::time::{Now, ago, ahead};
use portcullis::approvals::{HeldAnswer, Listing, OpenQuestion, Status, Subject};
use portcullis::text::OneLine;

pub(super) fn run(arguments: &ListArguments, context: &Context) -> anyhow::Result<Exit> {
    let approvals = super::open(context)?;
    let listing = if arguments.all { approvals.list_all()? } else { approvals.list()? };
    if context.json {
        context.terminal.print(&json::line(&listing)?)?;
    } else {
        context.terminal.print(&text(&listing, context.terminal.style(), context.terminal.width()))?;
    }
    for fault in &listing.faults {
        let label = context.terminal.note_style().paint(Look::Bad, "an entry of the ledger counts for nothing:");
        context.terminal.note(format_args!("{label} {}", OneLine(fault)));
    }
    Ok(if listing.faults.is_empty() { Exit::Completed } else { Exit::RecordDamaged })
}

fn text(listing: &Listing, style: Style, width: Option<usize>) -> String {
    let now = Now::read();
    let mut text = String::new();
    if listing.questions.is_empty() {
        text.push_str("Nothing waits for you.\n");
    } else {
        text.push_str(&questions(&listing.questions, now).render(style, "", width));
    }
    if !listing.answers.is_empty() {
        text.push('\n');
        text.push_str(&answers(&listing.answers, now).render(style, "", width));
    }
    text
}

fn heading<const N: usize>(names: [&str; N]) -> [Cell; N] {
    names.map(|name| Cell::new(Look::Quiet, name))
}

fn questions(questions: &[OpenQuestion], now: Now) -> Table {
    let mut table = Table::default();
    table.row(heading(["QUESTION", "ASKED", "TOOL", "FOR", "STATE", "WHAT"]));
    for question in questions {
        let (look, state) = state(question);
        table.row([
            Cell::plain(short(&question.id)),
            Cell::new(Look::Quiet, &ago(question.asked_at.as_millisecond(), now)),
            Cell::new(Look::Strong, &question.tool),
            Cell::plain(&format!("{}, {}", question.principal, question.session)),
            Cell::new(look, state),
            Cell::plain(what(question)),
        ]);
    }
    table
}

fn answers(answers: &[HeldAnswer], now: Now) -> Table {
    let mut table = Table::default();
    table.row(heading(["ANSWER", "TOOL", "HOLDS", "GIVEN", "LAST USED", "USES", "EXPIRES", "COVERS"]));
    for answer in answers {
        let used = answer.used_at.map_or_else(|| "never".to_owned(), |at| ago(at.as_millisecond(), now));
        table.row([
            Cell::plain(short(&answer.id)),
            Cell::new(Look::Strong, &answer.tool),
            Cell::plain(&format!("{}, {}", answer.principal, scope(answer))),
            Cell::new(Look::Quiet, &ago(answer.given_at.as_millisecond(), now)),
            Cell::new(Look::Quiet, &used),
            Cell::plain(&answer.uses.to_string()),
            Cell::new(Look::Quiet, &expiry(answer, now)),
            Cell::plain(&answer.covers),
        ]);
    }
    table
}

/// How a question stands, for people.
pub(super) fn state(question: &OpenQuestion) -> (Look, &'static str) {
    match (question.status, question.waited_for) {
        (Status::Pending, true) => (Look::Doubtful, "a call waits"),
        (Status::Pending, false) => (Look::Doubtful, "left behind"),
        (Status::Approved, true) => (Look::Good, "approved"),
        (Status::Approved, false) => (Look::Doubtful, "approved, not run"),
        (Status::Running | Status::Done, _) => (Look::Good, question.status.as_str()),
        (Status::Rejected | Status::Lost, _) => (Look::Bad, question.status.as_str()),
        (Status::Expired | Status::Withdrawn, _) => (Look::Quiet, question.status.as_str()),
    }
}

/// In which sessions an answer holds.
pub(super) fn scope(answer: &HeldAnswer) -> String {
    answer.session.as_ref().map_or_else(|| "always".to_owned(), |session| format!("session {session}"))
}

/// Until when an answer holds.
pub(super) fn expiry(answer: &HeldAnswer, now: Now) -> String {
    match answer.revoked_at {
        Some(at) => format!("revoked {}", ago(at.as_millisecond(), now)),
        None => ahead(answer.expires_at.as_millisecond(), now),
    }
}

/// What is asked about, on one line.
fn what(question: &OpenQuestion) -> &str {
    match &question.question {
        None => question.note.as_deref().unwrap_or_default(),
        Some(asked) => match &asked.subject {
            Subject::Call | Subject::Repeat => &asked.arguments,
            Subject::Resource { resource, .. } => resource,
        },
    }
}

fn short(id: &str) -> &str {
    id.get(..ID_DIGITS).unwrap_or(id)
}
