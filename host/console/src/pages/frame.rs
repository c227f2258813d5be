//! What every page has around it: the header, the sections, notices, and the list of keys.

use super::pause_control;
use crate::console::ConsoleState;
use crate::html::{count, hash, page};
use crate::notice::{Notice, NoticeKind};
use crate::session::ConsoleSession;
use axum::response::Response;
use http::StatusCode;
use maud::{DOCTYPE, Markup, html};
use portcullis::text::OneLine;

/// The sections of the console, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Inbox,
    Live,
    Log,
    Tools,
    Remembered,
    Policy,
}

impl Section {
    pub(crate) const ALL: [Self; 6] = [Self::Inbox, Self::Live, Self::Log, Self::Tools, Self::Remembered, Self::Policy];

    fn name(self) -> &'static str {
        match self {
            Self::Inbox => "Inbox",
            Self::Live => "Live",
            Self::Log => "Log",
            Self::Tools => "Tools",
            Self::Remembered => "Remembered",
            Self::Policy => "Policy",
        }
    }

    /// Returns the address of the section's first page.
    pub(crate) fn address(self) -> &'static str {
        match self {
            Self::Inbox => "/inbox",
            Self::Live => "/live",
            Self::Log => "/log",
            Self::Tools => "/tools",
            Self::Remembered => "/remembered",
            Self::Policy => "/policy",
        }
    }
}

/// The keys, as the help lists them.
const KEYS: [(&str, &str); 9] = [
    ("j k", "next and previous request"),
    ("y", "approve what is shown"),
    ("n", "deny: type a reason, Enter sends it"),
    ("x", "select the request"),
    ("X", "select all, and review them together"),
    ("r", "review the selected ones together"),
    ("1 … 6", "go to a section"),
    ("/", "search the log"),
    ("?", "this list"),
];

/// The gate of the logo.
pub(crate) const SVG_BRAND: &str = "M3 16V7a6 6 0 0 1 12 0v9M6 16V6M9 16V4.5M12 16V6M3 9h12M3 12.5h12";

/// Returns a page of a section. Background refreshes of a page do not consume its notices.
pub(crate) async fn framed(
    state: &ConsoleState,
    session: &ConsoleSession,
    section: Section,
    title: &str,
    content: &Markup,
) -> Response {
    let notices = state.sessions.notices(session);
    let pause = state.pause.of_files().await;
    let control = pause_control::shown(pause.as_ref(), state.pause.may_resume, section.address(), &token(session));
    let pending = state.watch.now().pending;
    let waiting = if pending == 0 { String::new() } else { format!("({pending}) ") };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (waiting) (OneLine(title)) " · Portcullis" }
                link rel="icon" href="/icon.svg";
                link rel="stylesheet" href="/console.css";
                script type="module" src="/console.js" {}
            }
            body data-process=(state.process) data-section=(section.name()) {
                a.skip href="#main" { "Skip to the content" }
                (header(state, &control))
                (sections(state, section))
                main #main tabindex="-1" data-section=(section.name()) {
                    (notices_shown(&notices))
                    (content)
                }
                (keys())
                p #announce.away role="status" aria-live="polite" {}
            }
        }
    };
    page(StatusCode::OK, markup)
}

fn header(state: &ConsoleState, pause: &Markup) -> Markup {
    html! {
        header.top {
            a.brand href="/inbox" {
                svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" {
                    path d=(SVG_BRAND) fill="none" stroke="currentColor" stroke-width="1.4" {}
                }
                "Portcullis"
            }
            p #status.status { (status(state)) }
            (pause)
            button #help-button.ghost type="button" aria-haspopup="dialog" { "Keys " kbd { "?" } }
        }
    }
}

/// Says which policy is in force, and whether it is the one in its files.
fn status(state: &ConsoleState) -> Markup {
    let name = state.policy_files.first().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    let name = name.map_or_else(|| "policy".to_owned(), |name| OneLine(&name).to_string());
    // A page must not wait until the host is open, so this uses it only if it is.
    let status = state.host.opened().map(|host| host.policy_status().borrow().clone());
    html! {
        span #connection.connection data-state="on" { span.dot.ok aria-hidden="true" {} span { "connected" } }
        " · " (count(state.live.hosts(), "host"))
        @match status {
            Some(status) if status.fault.is_some() => {
                " · " a.bad href="/policy" { "policy " code { (name) } " cannot be used: an older one is in force" }
            }
            Some(status) => { " · policy " code { (name) } " " span.hash title=(status.sha256) { (hash(&status.sha256)) } }
            None => { " · policy " code { (name) } }
        }
    }
}

fn sections(state: &ConsoleState, current: Section) -> Markup {
    let seen = state.watch.now();
    let tools = state.host.opened().map(|host| host.catalog().tools().count());
    let badge = |section: Section| match section {
        Section::Inbox => Some(seen.pending),
        Section::Live => Some(state.live.count()),
        Section::Tools => tools,
        Section::Remembered => Some(seen.remembered),
        Section::Log | Section::Policy => None,
    };
    html! {
        nav #sections aria-label="Sections" {
            @for section in Section::ALL {
                a href=(section.address()) aria-current=[(section == current).then_some("page")] {
                    (section.name())
                    @match badge(section) {
                        Some(number) if number > 0 && section == Section::Inbox => {
                            b { (number) span.away { " waiting" } }
                        }
                        Some(number) if number > 0 => { span { (number) } }
                        Some(_) | None => {}
                    }
                }
            }
        }
    }
}

fn notices_shown(notices: &[Notice]) -> Markup {
    html! {
        div #notices role="status" {
            @for notice in notices {
                @let look = match notice.kind { NoticeKind::Done => "notice done", NoticeKind::Refused => "notice refused" };
                p class=(look) { (OneLine(&notice.text)) }
            }
        }
    }
}

fn keys() -> Markup {
    html! {
        dialog #help aria-labelledby="help-title" {
            h2 #help-title { "Keys" }
            dl {
                @for (keys, what) in KEYS {
                    dt { @for key in keys.split(' ') { @if key == "…" { "…" } @else { kbd { (key) } } " " } }
                    dd { (what) }
                }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// Returns the section for a page without content.
pub(crate) fn empty(title: &str, text: &str) -> Markup {
    html! { section.empty { h1 { (title) } p { (text) } } }
}

/// Returns the text for a page that needs the host, if it cannot be opened.
pub(crate) fn no_host(why: &str) -> Markup {
    html! {
        section.empty {
            h1 { "The host cannot open" }
            p { (OneLine(why)) }
            p { "You can still answer requests. This page tries again when you load it." }
        }
    }
}

/// Returns the hidden field with the token of the session.
pub(crate) fn token(session: &ConsoleSession) -> Markup {
    html! { input type="hidden" name="csrf" value=(session.csrf); }
}

/// Formats the number of things in a heading.
pub(crate) fn heading(title: &str, number: usize, one: &str) -> Markup {
    html! { h1 { (title) " " small { (count(number, one)) } } }
}
