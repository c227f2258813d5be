//! What is said when a command cannot do its work.

use crate::exit_code::Exit;
use crate::json;
use crate::style::Look;
use crate::terminal::Terminal;
use portcullis::OpenError;
use portcullis::policy_files::{GrantError, PlaceError, PolicyReadError};
use portcullis::text::Lines;
use serde::Serialize;

#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
}

/// Shows an error that ends the command.
pub(crate) fn show(terminal: Terminal, as_json: bool, error: &anyhow::Error) -> Exit {
    // The library's errors say their cause in their own words, so a cause that was told is not told again.
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = text + separator + &cause;
        }
    }
    if as_json {
        // An error is a text: it has JSON. When it cannot be written, nobody reads it.
        let _ = json::line(&Failure { error: &text }).map(|line| terminal.print(&line));
        return Exit::Usage;
    }
    terminal.note(format_args!("{} {}", terminal.note_style().paint(Look::Bad, "error:"), Lines(&text)));
    if let Some(hint) = error.downcast_ref().and_then(|error| OpenFault::of(error).hint()) {
        terminal.note(format_args!("  remedy: {hint}"));
    }
    Exit::Usage
}

/// What keeps a host from opening, as far as the command line can say more of it than the library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// The directory of plugins.
    Plugins,
    /// The state directory.
    State,
    /// The policy.
    Policy,
    /// The policy binds a service, and the command line has none.
    Service,
    /// Something else.
    Other,
}

impl OpenFault {
    /// Classifies an error.
    pub(crate) fn of(error: &OpenError) -> Self {
        match error {
            OpenError::Place(error) | OpenError::Policy(PolicyReadError::Place(error)) => Self::of_place(error),
            OpenError::Grants(error) => Self::of_grants(error),
            OpenError::Policy(PolicyReadError::NoPolicy(_) | PolicyReadError::Policy { .. }) | OpenError::Change(_) => {
                Self::Policy
            }
            OpenError::Policy(PolicyReadError::Approvals(_))
            | OpenError::Network(_)
            | OpenError::Engine(_)
            | OpenError::Audit(_)
            | OpenError::Approvals(_)
            | OpenError::Outputs(_)
            | OpenError::Load(_)
            | OpenError::Calls(_) => Self::Other,
        }
    }

    fn of_place(error: &PlaceError) -> Self {
        match error {
            PlaceError::Io { what: "the plugin directory", .. } => Self::Plugins,
            PlaceError::Io { what: "the state directory", .. } => Self::State,
            PlaceError::Policy { .. } | PlaceError::Io { what: "the policy", .. } => Self::Policy,
            PlaceError::Io { .. }
            | PlaceError::Exposed { .. }
            | PlaceError::Foreign { .. }
            | PlaceError::Key { .. } => Self::Other,
        }
    }

    fn of_grants(error: &GrantError) -> Self {
        match error {
            GrantError::UnknownService { .. } => Self::Service,
            GrantError::DeadRule { .. }
            | GrantError::UnknownKey { .. }
            | GrantError::Grant { .. }
            | GrantError::Covers { .. }
            | GrantError::ProjectGrant(_)
            | GrantError::Client { .. }
            | GrantError::DeadNarrow { .. } => Self::Policy,
            GrantError::Audit(_) | GrantError::Ledger(_) => Self::Other,
        }
    }

    /// Returns whether the policy is at fault.
    pub(crate) fn is_of_policy(self) -> bool {
        match self {
            Self::Policy | Self::Service => true,
            Self::Plugins | Self::State | Self::Other => false,
        }
    }

    /// Returns what to do about it on the command line, where the library could not know.
    fn hint(self) -> Option<&'static str> {
        match self {
            Self::Plugins => Some("name the directory of plugins with --plugins DIR or PORTCULLIS_PLUGINS"),
            Self::State => Some("name another directory with --state DIR or PORTCULLIS_STATE"),
            Self::Service => {
                Some("the command line has no services: open this policy with the application that has them")
            }
            Self::Policy | Self::Other => None,
        }
    }
}
