//! The list of requests that wait. A form selects several of them for one review.

use crate::html::{ago, cell, left, short};
use crate::words::{Sentence, sentence, target};
use maud::{Markup, html};
use portcullis::Question;
use portcullis::approvals::OpenQuestion;

/// Maximum requests that a list shows. The others follow when these are answered.
pub(crate) const LISTED_MAX: usize = 200;

/// Returns the list, with one request selected.
pub(crate) fn shown(waiting: &[OpenQuestion], selected: Option<&str>) -> Markup {
    html! {
        section.list aria-label="Waiting" {
            h1 { "Waiting for you " small #waiting-count { (waiting.len()) } }
            form #review-form method="get" action="/inbox/review" {
                ol #requests {
                    @for open in waiting.iter().take(LISTED_MAX) { (row(open, selected == Some(open.id.as_str()))) }
                }
                @if waiting.len() > LISTED_MAX {
                    p.hint { (waiting.len() - LISTED_MAX) " more follow when these are answered." }
                }
                p.select-bar {
                    button #review-selected.ghost type="submit" { "Review selected " kbd { "r" } }
                    " "
                    button #review-all.ghost type="button" { "Select all " kbd { "X" } }
                }
            }
            p.hint { kbd { "j" } " " kbd { "k" } " move · " kbd { "x" } " select several" }
        }
    }
}

fn row(open: &OpenQuestion, is_selected: bool) -> Markup {
    let what = open.question.as_ref().and_then(target);
    html! {
        li data-id=(open.id) aria-current=[is_selected.then_some("true")] {
            input type="checkbox" name="id" value=(open.id) aria-label=(label(open));
            a href={ "/inbox/" (open.id) } {
                p.what { b { (cell(&open.tool)) } " " @if let Some(what) = what { code { (cell(&what)) } } }
                p.meta {
                    @let who = open.question.as_ref().map_or_else(|| open.principal.clone(), Question::who);
                    span { (cell(&who)) } " · " (short(&open.session)) " · "
                    @if open.waited_for { (left(open.expires_at.as_millisecond())) }
                    @else { "left behind " (ago(open.asked_at.as_millisecond())) }
                }
            }
        }
    }
}

fn label(open: &OpenQuestion) -> String {
    match open.question.as_ref().map(sentence) {
        Some(Sentence { who, wants, target }) => cell(&format!("Select: {who} {wants} {}", target.unwrap_or_default())),
        None => "Select".to_owned(),
    }
}
