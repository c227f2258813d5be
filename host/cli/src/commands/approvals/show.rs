//! `portcullis approvals show`: one question or answer, with all that belongs to it.

use super::super::{Context, fail};
use super::identify::{Found, find};
use super::list::{expiry, scope, state};
use crate::exit_code::Exit;
use crate::json;
use crate::question::{Extent, shown};
use crate::style::{Look, Style};
use crate::table::{Cell, Table};
use crate::time::{Now, ago, ahead};
use portcullis::approvals::{HeldAnswer, OpenQuestion};

pub(super) fn run(typed: &str, context: &Context) -> anyhow::Result<Exit> {
    let terminal = context.terminal;
    let approvals = super::open(context)?;
    let text = match find(&approvals, typed)? {
        Ok(Found::Question(question)) => {
            let question = approvals.question(&question.id)?;
            match context.json {
                true => json::line(&question)?,
                false => of_question(&question, terminal.style(), terminal.width()),
            }
        }
        Ok(Found::Answer(answer)) if context.json => json::line(&answer)?,
        Ok(Found::Answer(answer)) => of_answer(&answer, terminal.style()),
        Err(why) => return fail(&why, Exit::Usage, context),
    };
    terminal.print(&text)?;
    Ok(Exit::Completed)
}

fn of_question(question: &OpenQuestion, style: Style, width: Option<usize>) -> String {
    let now = Now::read();
    let mut facts = Table::default();
    let (look, state) = state(question);
    facts.row([quiet("question"), Cell::plain(&question.id)]);
    facts.row([quiet("call"), Cell::plain(&question.call)]);
    facts.row([quiet("state"), Cell::new(look, state)]);
    facts.row([quiet("asked"), Cell::plain(&ago(question.asked_at.as_millisecond(), now))]);
    match question.settled_at {
        Some(at) => facts.row([quiet("settled"), Cell::plain(&ago(at.as_millisecond(), now))]),
        None => facts.row([quiet("expires"), Cell::plain(&ahead(question.expires_at.as_millisecond(), now))]),
    }
    if let Some(note) = &question.note {
        facts.row([quiet("note"), Cell::plain(note)]);
    }
    if question.question.is_none() {
        facts.row([quiet("tool"), Cell::plain(&question.tool)]);
        facts.row([quiet("for"), Cell::plain(&format!("{}, session {}", question.principal, question.session))]);
    }
    let mut text = facts.render(style, "  ", None);
    if let Some(asked) = &question.question {
        text = format!("{}\n{text}", shown(asked, Extent::Whole, style, width).text);
    }
    text
}

fn of_answer(answer: &HeldAnswer, style: Style) -> String {
    let now = Now::read();
    let mut facts = Table::default();
    let mut fact = |label, value: &str| facts.row([quiet(label), Cell::plain(value)]);
    fact("answer", &answer.id);
    fact("question", &answer.question);
    fact("tool", &answer.tool);
    fact("covers", &answer.covers);
    fact("holds", &scope(answer));
    fact("for", &format!("{} ({})", answer.principal, answer.origin));
    fact("plugin", &answer.plugin_sha256);
    for grant in &answer.grants {
        fact("handle", grant);
    }
    fact("given", &ago(answer.given_at.as_millisecond(), now));
    fact("expires", &expiry(answer, now));
    let used = answer.used_at.map_or_else(|| "never".to_owned(), |at| ago(at.as_millisecond(), now));
    fact("used", &format!("{}, last {used}", answer.uses));
    facts.render(style, "  ", None)
}

fn quiet(label: &str) -> Cell {
    Cell::new(Look::Quiet, label)
}
