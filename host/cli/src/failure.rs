//! Reports the error that ends a command.

use crate::exit_code::Exit;
use crate::json;
use crate::policy_report;
use crate::style::TextStyle;
use crate::terminal::Terminal;
use portcullis::OpenError;
use portcullis::policy_files::{GrantError, PlaceError, PolicyReadError};
use portcullis::text::{Lines, WithCauses};
use serde::Serialize;

#[derive(Serialize)]
struct CommandFailure<'a> {
    error: &'a str,
}

/// Shows an error that ends the command.
pub(crate) fn show(terminal: Terminal, as_json: bool, error: &anyhow::Error) -> Exit {
    if !as_json && let Some(report) = policy_report::of_error(error, terminal.note_style()) {
        terminal.say(&report);
        return Exit::Usage;
    }
    let text = WithCauses(&**error).to_string();
    // A text always has JSON. If it cannot be written, there is no reader.
    let _ = report(terminal, as_json, &text);
    if as_json {
        return Exit::Usage;
    }
    if let Some(hint) = error.downcast_ref().and_then(|error| OpenFault::of(error).hint()) {
        terminal.note(format_args!("  remedy: {hint}"));
    }
    Exit::Usage
}

/// Writes an error: for people to standard error, or as the one result for programs.
///
/// # Errors
/// The result cannot be written.
pub(crate) fn report(terminal: Terminal, as_json: bool, error: &str) -> anyhow::Result<()> {
    if as_json {
        terminal.print(&json::line(&CommandFailure { error })?)?;
    } else {
        terminal.note(format_args!("{} {}", terminal.note_style().paint(TextStyle::Bad, "error:"), Lines(error)));
    }
    Ok(())
}

/// The reason why a host cannot open, if the command line can say more about it than the library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// The plugin directory.
    Plugins,
    /// Returns the state directory.
    State,
    /// The policy.
    Policy,
    /// The policy binds a service, and the command line provides none.
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
            | OpenError::Engine(_)
            | OpenError::Audit(_)
            | OpenError::Approvals(_)
            | OpenError::Outputs(_)
            | OpenError::Load(_)
            | OpenError::Compiler(_)
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
            | GrantError::NoStores { .. }
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

    /// Returns what to do on the command line, which the library does not know about.
    fn hint(self) -> Option<&'static str> {
        match self {
            Self::Plugins => Some("set the plugin directory with --plugins DIR or PORTCULLIS_PLUGINS"),
            Self::State => Some("set another directory with --state DIR or PORTCULLIS_STATE"),
            Self::Service => {
                Some("the command line provides no services: use this policy with the application that does")
            }
            Self::Policy | Self::Other => None,
        }
    }
}
