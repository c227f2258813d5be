//! `portcullis approvals show`: shows one request or approval in full.

use super::super::Context;
use super::super::no_result::fail_as;
use super::identify::{IdentifiedApproval, find};
use super::list::{expiry, scope, state};
use super::opened::open;
use crate::exit_code::Exit;
use crate::failure::FailureCode;
use crate::json::{self, DocumentKind};
use crate::question::{Extent, shown};
use crate::style::{Style, TextStyle};
use crate::table::{Table, TableCell};
use crate::time::{Now, ago, ahead};
use portcullis::approvals::{HeldAnswer, OpenQuestion};

pub(super) async fn run(typed: &str, context: &Context) -> anyhow::Result<Exit> {
    let terminal = context.terminal;
    let approvals = open(context).await?;
    let text = match find(&approvals, typed).await? {
        Ok(IdentifiedApproval::Question(question)) => {
            // A listing has no difference. This computes it from the current files.
            let question = approvals.question(&question.id).await?;
            match context.json {
                true => json::document(DocumentKind::ApprovalRequest, &question)?,
                false => of_question(&question, terminal.style(), terminal.width()),
            }
        }
        Ok(IdentifiedApproval::Answer(answer)) if context.json => {
            json::document(DocumentKind::RememberedApproval, &answer)?
        }
        Ok(IdentifiedApproval::Answer(answer)) => of_answer(&answer, terminal.style(), terminal.width()),
        Err(why) => return fail_as(FailureCode::UnknownApproval, &why, Exit::Usage, context),
    };
    if context.json {
        terminal.print(&text)?
    } else {
        terminal.show(&text)?
    }
    Ok(Exit::Completed)
}

fn of_question(question: &OpenQuestion, style: Style, width: Option<usize>) -> String {
    let now = Now::read();
    let mut facts = Table::default();
    let (look, state) = state(question);
    facts.row([quiet("request"), TableCell::plain(&question.id)]);
    facts.row([quiet("call"), TableCell::plain(&question.call)]);
    facts.row([quiet("state"), TableCell::new(look, state)]);
    facts.row([quiet("made"), TableCell::plain(&ago(question.asked_at.as_millisecond(), now))]);
    match question.settled_at {
        Some(at) => facts.row([quiet("settled"), TableCell::plain(&ago(at.as_millisecond(), now))]),
        None => facts.row([quiet("expires"), TableCell::plain(&ahead(question.expires_at.as_millisecond(), now))]),
    }
    if let Some(note) = &question.note {
        facts.row([quiet("note"), TableCell::plain(note)]);
    }
    if question.question.is_none() {
        facts.row([quiet("tool"), TableCell::plain(&question.tool)]);
        facts.row([quiet("for"), TableCell::plain(&format!("{}, session {}", question.principal, question.session))]);
    }
    let mut text = facts.render_whole(style, "  ", width);
    if let Some(asked) = &question.question {
        text = format!("{}\n{text}", shown(asked, Extent::Whole, style, width).text);
    }
    text
}

fn of_answer(answer: &HeldAnswer, style: Style, width: Option<usize>) -> String {
    let now = Now::read();
    let mut facts = Table::default();
    let mut fact = |label, value: &str| facts.row([quiet(label), TableCell::plain(value)]);
    fact("approval", &answer.id);
    fact("request", &answer.question);
    fact("tool", &answer.tool);
    fact("covers", &answer.covers);
    fact("scope", &scope(answer));
    fact("for", &format!("{} ({})", answer.principal, answer.origin));
    fact("plugin", &answer.plugin_sha256);
    for grant in &answer.grants {
        fact("handle", grant);
    }
    fact("given", &ago(answer.given_at.as_millisecond(), now));
    fact("expires", &expiry(answer, now));
    let used = answer.used_at.map_or_else(|| "never".to_owned(), |at| ago(at.as_millisecond(), now));
    fact("used", &format!("{}, last {used}", answer.uses));
    facts.render_whole(style, "  ", width)
}

fn quiet(label: &str) -> TableCell {
    TableCell::new(TextStyle::Quiet, label)
}
