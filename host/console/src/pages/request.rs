//! One request: who wants what, the change, the arguments, what the tool gets, and the answer.
//!
//! A page that leaves something out has no button to approve. Where no difference shows the effect, the arguments are
//! open.

use super::frame::token;
use super::{change, reply};
use crate::console::ConsoleState;
use crate::difference::Difference;
use crate::html::{ago, count, hash, left, short, shown, size};
use crate::proof::ProvenRequest;
use crate::session::ConsoleSession;
use crate::shown_elsewhere::shows_all_arguments;
use crate::words::{Sentence, sentence};
use maud::{Markup, html};
use portcullis::Question;
use portcullis::approvals::{OpenQuestion, PlannedCall, Status, Subject};
use portcullis::text::{Lines, OneLine, count_blanks, count_invisible, count_invisible_in_json, indent_json};

/// Rows of a change or of arguments that are shown at first. A person scrolls through these.
const ROWS_MAX: usize = 400;

/// Bytes of a change or of arguments that are shown at first.
const BYTES_MAX: usize = 64 * 1024;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What a person scrolls through.
    Screen,
    /// Everything.
    Whole,
}

/// The parts of a request that may be long.
pub(crate) struct RequestBody {
    difference: Option<Difference>,
    arguments: Vec<String>,
    hidden: Vec<String>,
    /// Whether something is left out.
    pub(crate) is_cut: bool,
    /// Whether everything is open, because the reader asked for all of it or reviews several requests.
    is_opened: bool,
    /// Bytes of everything that is or would be shown.
    pub(crate) bytes: usize,
    members: usize,
    /// Whether the heading and the difference show all arguments.
    shows_all_arguments: bool,
}

impl RequestBody {
    /// Prepares what is shown of a request.
    pub(crate) fn of(question: &Question, extent: Extent) -> Self {
        let difference = question.difference.as_deref().map(Difference::parse);
        let arguments = Lines(&indent_json(&question.arguments)).to_string();
        let bytes = arguments.len() + question.difference.as_ref().map_or(0, String::len);
        let arguments: Vec<String> = arguments.lines().map(|line| count_blanks(line).into_owned()).collect();
        let rows = arguments.len().max(difference.as_ref().map_or(0, |difference| difference.rows.len()));
        let is_cut = extent == Extent::Screen && (rows > ROWS_MAX || bytes > BYTES_MAX);
        let members = serde_json::from_str::<serde_json::Map<_, _>>(&question.arguments).map_or(0, |map| map.len());
        Self {
            difference,
            arguments,
            hidden: warnings(question),
            is_cut,
            is_opened: extent == Extent::Whole,
            bytes,
            members,
            shows_all_arguments: shows_all_arguments(question),
        }
    }

    fn shows_effect(&self) -> bool {
        self.difference.as_ref().is_some_and(|difference| difference.is_complete)
    }
}

/// Says where invisible characters are.
fn warnings(question: &Question) -> Vec<String> {
    let told = |what: &str, number: usize| {
        (number > 0).then(|| format!("{what} {}, shown as escapes.", count(number, "invisible character")))
    };
    let words = match &question.subject {
        Subject::Resource { resource, reason, .. } => count_invisible(resource) + count_invisible(reason),
        Subject::Call | Subject::Repeat | Subject::Calls(_) => 0,
    };
    let arguments = match count_invisible_in_json(&question.arguments) {
        Some(number) => told("The arguments contain", number),
        None => Some("The arguments cannot be parsed.".to_owned()),
    };
    let change = question.difference.as_deref().map_or(0, count_invisible);
    [arguments, told("The change contains", change), told("The tool's words contain", words)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns a request with the form for its answer.
pub(crate) fn article(state: &ConsoleState, session: &ConsoleSession, open: &OpenQuestion, extent: Extent) -> Markup {
    let resumed = state.resumed.find(&open.id);
    let standing = format!("{} {}", open.status.as_str(), reply::word(resumed.as_ref()));
    html! {
        article #request data-id=(open.id) data-standing=(standing) aria-label="Request" {
            @match (&open.question, open.status) {
                (Some(question), Status::Pending) => {
                    @let body = RequestBody::of(question, extent);
                    (described(open, question, &body))
                    (form(session, open, question, &body))
                }
                (question, status) => {
                    @if let Some(question) = question {
                        (described(open, question, &RequestBody::of(question, extent)))
                    } @else { header { h2 tabindex="-1" { (shown(&open.tool)) } (byline(open)) } }
                    (settled(open, status))
                    @if let Some(resumed) = resumed { (reply::shown(&resumed)) }
                }
            }
        }
    }
}

/// Returns the line of the rule that a reason names, as in `rule 2 (line 18): …`. `None` for a rule of another layer
/// than the user's, because only the lines of the user's file have links.
fn rule_line(reason: &str) -> Option<u32> {
    let (_, rest) = reason.strip_prefix("rule ")?.split_once(" (line ")?;
    let (line, rest) = rest.split_once(')')?;
    if rest.starts_with(" of the ") { None } else { line.parse().ok() }
}

/// Returns everything about a request except its answer.
pub(crate) fn described(open: &OpenQuestion, question: &Question, body: &RequestBody) -> Markup {
    html! {
        header {
            (heading(question))
            (byline(open))
            p.why {
                (shown(&question.reason))
                @if let Some(line) = rule_line(&question.reason) { " · " a href={ "/policy#line-" (line) } { "the rule" } }
            }
            @if let Some(changed) = &question.changed {
                p.warning { b { "Changed since you approved it: " } (shown(changed)) }
            }
        }
        @for warning in &body.hidden { p.warning role="note" { b { "Careful: " } (warning) } }
        @if let Subject::Resource { permission, resource, reason, by_host } = &question.subject {
            (own_words(permission, resource, reason))
            p.hint {
                @if *by_host {
                    "Once, as the host will grant it. Only the arguments of the program are from the tool."
                } @else {
                    "These are the tool's own words. No one has checked them."
                }
            }
        }
        @if let Subject::Calls(calls) = &question.subject { (planned_calls(calls)) }
        @if let Some(difference) = &body.difference { (change(difference, body.is_cut, &short(&open.id))) }
        (arguments(question, body, &short(&open.id)))
        (handles(question, body))
    }
}

/// Returns the calls by their numbers. The arguments below have the whole of each.
fn planned_calls(calls: &[PlannedCall]) -> Markup {
    html! {
        ol #calls.calls aria-label="Calls" {
            @for call in calls { li { code { (shown(&call.name())) } } }
        }
    }
}

fn heading(question: &Question) -> Markup {
    let Sentence { who, wants, target } = sentence(question);
    html! {
        h2 tabindex="-1" {
            bdi { (shown(&who)) } " " (shown(&wants)) " "
            @if let Some(target) = target { code { (crate::html::cell(&target)) } }
        }
    }
}

fn byline(open: &OpenQuestion) -> Markup {
    let permissions = open.question.as_ref().map(|question| question.permissions.to_string()).unwrap_or_default();
    html! {
        p.byline {
            code { (shown(&open.tool)) }
            @if !permissions.is_empty() { " · may " (permissions) }
            " · " (shown(&open.principal)) ", session " (short(&open.session)) " · asked " (ago(open.asked_at.as_millisecond()))
            @if open.status == Status::Pending {
                " · " (left(open.expires_at.as_millisecond()))
                @if !open.waited_for { " · its process has ended, so the call runs here" }
            }
        }
    }
}

fn own_words(permission: &str, resource: &str, reason: &str) -> Markup {
    html! {
        dl.words {
            dt { "asks to" } dd { (shown(permission)) }
            dt { "what" } dd { (shown(resource)) }
            dt { "why" } dd { (shown(reason)) }
        }
    }
}

/// Returns the change, labelled as the plugin's claim.
fn change(difference: &Difference, is_cut: bool, request: &str) -> Markup {
    let rows = if is_cut { ROWS_MAX / 2 } else { difference.rows.len() };
    let caption = "What would change, as the plugin computes it";
    change::shown(difference, rows, caption, &format!("Proposed change of request {request}"))
}

fn arguments(question: &Question, body: &RequestBody, request: &str) -> Markup {
    let rows = if body.is_cut { ROWS_MAX / 2 } else { body.arguments.len() };
    let budget = if body.is_cut { BYTES_MAX } else { usize::MAX };
    let lines = within(&body.arguments, rows, budget);
    html! {
        details open[!(body.shows_effect() && body.shows_all_arguments) || body.is_cut || body.is_opened] {
            summary {
                "Arguments, exactly as they will run "
                small { (count(body.members, "member")) ", " (size(question.arguments.len())) }
            }
            pre.json tabindex="0" role="region" aria-label={ "Arguments of request " (request) } {
                @for line in &lines { (line) "\n" }
                @if body.is_cut { span.note { "… cut here" } }
            }
        }
    }
}

/// Returns the first lines that fit, the last one cut.
fn within(lines: &[String], rows: usize, mut budget: usize) -> Vec<&str> {
    let mut kept = Vec::new();
    for line in lines.iter().take(rows) {
        let part = &line[..line.floor_char_boundary(budget.min(line.len()))];
        kept.push(part);
        budget = budget.saturating_sub(line.len());
        if budget == 0 {
            break;
        }
    }
    kept
}

fn handles(question: &Question, body: &RequestBody) -> Markup {
    html! {
        details open[!body.shows_effect()] {
            summary { "What the tool gets " small { (count(question.handles.len(), "handle")) } }
            dl {
                @for handle in &question.handles {
                    @let (name, rest) = handle.split_once(": ").unwrap_or(("handle", handle));
                    dt { (shown(name)) } dd { (shown(rest)) }
                }
                @if question.handles.is_empty() { dt { "handles" } dd { "none" } }
                dt { "plugin" }
                dd { (shown(question.tool.plugin.as_str())) " · sha256 " code title=(question.plugin_sha256) { (hash(&question.plugin_sha256)) } }
                dt { "caller" }
                dd { (shown(&question.principal)) " (" (shown(&question.origin)) "), session " (shown(&question.session)) }
            }
        }
    }
}

fn form(session: &ConsoleSession, open: &OpenQuestion, question: &Question, body: &RequestBody) -> Markup {
    // The ledger accepts no approval with an empty digest, also if a client adds the button itself.
    let proven = if body.is_cut { format!("{}:", open.id) } else { ProvenRequest::field(question) };
    html! {
        span #seen-to-here {}
        form #answer.answer method="post" action="/inbox/answer" {
            (token(session))
            input type="hidden" name="request" value=(proven);
            @if body.is_cut {
                p.warning {
                    "Part of the request is not shown (" (size(body.bytes)) "). "
                    a #show-all href={ "/inbox/" (open.id) "?show=all" } { "Show everything" }
                    ", then answer."
                }
            } @else if let Some(count) = question.selectable_calls() {
                (selection(count))
            } @else if !question.is_once() { (remember(question)) }
            (actions(body.is_cut, "Approve"))
        }
    }
}

/// Returns the field that selects some of several calls.
fn selection(count: usize) -> Markup {
    html! {
        p.selection {
            label for="calls-selected" { "Only these calls" } " "
            input #calls-selected name="calls" maxlength="1000" autocomplete="off"
                placeholder={ "all " (count) ", or numbers such as 1-3, 7" };
        }
    }
}

fn remember(question: &Question) -> Markup {
    html! {
        fieldset {
            legend { "Remember" }
            @for (value, label) in [("once", "Only this call"), ("session", "This session"), ("always", "Always")] {
                label { input type="radio" name="remember" value=(value) checked[value == "once"]; " " (label) }
            }
            select name="covers" aria-label="What it covers" {
                option value="exact" { "exactly these arguments" }
                @for (place, offer) in question.offers.iter().enumerate() { option value=(place) { (shown(offer)) } }
            }
        }
    }
}

/// Returns the buttons. A form without everything on its page has no button to approve.
pub(crate) fn actions(is_cut: bool, approve: &str) -> Markup {
    html! {
        div.actions {
            button.deny type="submit" name="answer" value="deny" { "Deny " kbd { "n" } }
            input #note name="note" maxlength="1000" autocomplete="off" aria-label="Reason for the agent"
                placeholder="Tell the agent why (optional)";
            @if !is_cut {
                button #approve.approve type="submit" name="answer" value="approve" { (approve) " " kbd { "y" } }
            }
        }
    }
}

fn settled(open: &OpenQuestion, status: Status) -> Markup {
    let what = match status {
        Status::Pending => "It waits for an answer.",
        Status::Approved if open.waited_for => "Approved. The call runs when its client makes it again.",
        Status::Approved => "Approved. The call has not run yet.",
        Status::Running => "Approved. The call runs.",
        Status::Done => "Approved. The call has run.",
        Status::Rejected => "Denied.",
        Status::Expired => "Expired without an answer.",
        Status::Withdrawn => "Withdrawn: the call no longer waits for an answer.",
        Status::Lost => "The process of the call ended while it ran. Its outcome is unknown.",
    };
    html! {
        div.settled role="status" {
            p { b { (what) } @if let Some(at) = open.settled_at { " " (ago(at.as_millisecond())) } }
            @if let Some(note) = &open.note { p { "Note: " (OneLine(note)) } }
            p { a href="/inbox" { "Back to the inbox" } " · " a href={ "/log/" (open.call) } { "The call in the log" } }
        }
    }
}
