//! Reports the error that ends a command.

mod usage;

use crate::arguments::LogFormat;
pub(crate) use crate::command_error::{CommandError, WithCode};
use crate::exit_code::Exit;
pub(crate) use crate::failure_code::FailureCode;
use crate::json::{self, DocumentKind};
use crate::policy_report;
use crate::style::TextStyle;
use crate::terminal::Terminal;
use portcullis::OpenError;
use portcullis::approvals::ApprovalError;
use portcullis::audit::AuditError;
use portcullis::policy_files::{GrantError, PlaceError, PolicyReadError};
use portcullis::text::{Lines, WithCauses};
use serde::Serialize;
use std::error::Error;
use std::io;
pub(crate) use usage::show_usage;

/// The document of an error.
#[derive(Serialize)]
struct ErrorDocument<'a> {
    error: ErrorBody<'a>,
}

/// An error for programs.
#[derive(Serialize)]
struct ErrorBody<'a> {
    code: FailureCode,
    message: &'a str,
    /// Why, the nearest cause first.
    causes: Vec<String>,
    /// What to do next.
    help: Option<&'a str>,
}

/// Shows an error that ends the command.
pub(crate) fn show(terminal: Terminal, as_json: bool, error: &anyhow::Error) -> Exit {
    // An excerpt of the policy is for people alone.
    if !as_json
        && terminal.log_format() == LogFormat::Text
        && let Some(report) = policy_report::of_error(error, terminal.note_style())
    {
        terminal.say(&report);
        return Exit::Usage;
    }
    let code = code_of(error);
    let help = help_of(error);
    // A text always has JSON. If it cannot be written, there is no reader.
    let _ = match as_json {
        true => print(terminal, code, &error.to_string(), causes(error), help.as_deref()),
        false => report(terminal, false, code, &WithCauses(&**error).to_string(), help.as_deref()),
    };
    Exit::Usage
}

/// Writes an error: for people to standard error, or as the one result for programs.
///
/// # Errors
/// The result cannot be written.
pub(crate) fn report(
    terminal: Terminal,
    as_json: bool,
    code: FailureCode,
    message: &str,
    help: Option<&str>,
) -> anyhow::Result<()> {
    if as_json {
        return print(terminal, code, message, Vec::new(), help);
    }
    terminal.note(format_args!("{} {}", terminal.note_style().paint(TextStyle::Bad, "error:"), Lines(message)));
    if let Some(help) = help {
        terminal.note(format_args!("  remedy: {}", Lines(help)));
    }
    Ok(())
}

fn print(
    terminal: Terminal,
    code: FailureCode,
    message: &str,
    causes: Vec<String>,
    help: Option<&str>,
) -> anyhow::Result<()> {
    let document = ErrorDocument { error: ErrorBody { code, message, causes, help } };
    Ok(terminal.print(&json::document(DocumentKind::Error, &document)?)?)
}

/// Returns the causes that an error does not show itself.
fn causes(error: &anyhow::Error) -> Vec<String> {
    // Some errors quote their cause in their own text.
    let (mut shown, mut causes) = (error.to_string(), Vec::new());
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !shown.contains(&cause) {
            shown.push_str(&cause);
            causes.push(cause);
        }
    }
    causes
}

/// Returns the code of an error: that of the first in its chain that has one.
fn code_of(error: &anyhow::Error) -> FailureCode {
    error.chain().find_map(known).unwrap_or(FailureCode::Failed)
}

fn known(error: &(dyn Error + 'static)) -> Option<FailureCode> {
    if let Some(error) = error.downcast_ref::<CommandError>() {
        return Some(error.code);
    }
    if let Some(error) = error.downcast_ref::<OpenError>() {
        return Some(OpenFault::of(error).code());
    }
    if let Some(error) = error.downcast_ref::<ApprovalError>() {
        return Some(code_of_approval(error));
    }
    if let Some(error) = error.downcast_ref::<PolicyReadError>() {
        return Some(match error {
            PolicyReadError::Place(error) => OpenFault::of_place(error).code(),
            PolicyReadError::Approvals(_) => FailureCode::LedgerUnavailable,
            PolicyReadError::NoPolicy(_) | PolicyReadError::Policy { .. } | PolicyReadError::NoHome { .. } => {
                FailureCode::PolicyInvalid
            }
        });
    }
    if let Some(error) = error.downcast_ref::<PlaceError>() {
        return Some(OpenFault::of_place(error).code());
    }
    if error.is::<AuditError>() {
        return Some(FailureCode::AuditUnavailable);
    }
    error.is::<io::Error>().then_some(FailureCode::Io)
}

/// Returns the code of an approval that has no effect.
pub(crate) fn code_of_approval(error: &ApprovalError) -> FailureCode {
    match error {
        ApprovalError::Unknown => FailureCode::UnknownApproval,
        ApprovalError::Settled(_) => FailureCode::ApprovalSettled,
        ApprovalError::Expired => FailureCode::ApprovalExpired,
        ApprovalError::Gone => FailureCode::CallEnded,
        ApprovalError::Changed(_) => FailureCode::CallChanged,
        ApprovalError::WaitedFor => FailureCode::CallWaits,
        ApprovalError::NotOffered => FailureCode::NotOffered,
        ApprovalError::Ledger(_) => FailureCode::LedgerUnavailable,
        ApprovalError::Audit(_) => FailureCode::AuditUnavailable,
        ApprovalError::Unrecorded(_) => FailureCode::Unrecorded,
    }
}

/// Returns what to do about an error.
fn help_of(error: &anyhow::Error) -> Option<String> {
    if let Some(error) = error.downcast_ref::<CommandError>() {
        return error.help.clone();
    }
    error.downcast_ref().and_then(|error| OpenFault::of(error).hint()).map(str::to_owned)
}

/// The reason why a host cannot open, if the command line can say more about it than the library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// The plugin directory.
    Plugins,
    /// The state directory.
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
            OpenError::Policy(
                PolicyReadError::NoPolicy(_) | PolicyReadError::Policy { .. } | PolicyReadError::NoHome { .. },
            )
            | OpenError::Change(_) => Self::Policy,
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
            // The error names its place only in words.
            PlaceError::Io { what: "the plugin directory", .. } => Self::Plugins,
            PlaceError::Io { what: "the state directory", .. } => Self::State,
            PlaceError::Policy { .. } | PlaceError::Io { what: "the policy", .. } => Self::Policy,
            PlaceError::Io { .. }
            | PlaceError::Exposed { .. }
            | PlaceError::Foreign { .. }
            | PlaceError::Key { .. }
            | PlaceError::LedgerKey { .. }
            | PlaceError::OutputsAlone => Self::Other,
        }
    }

    fn of_grants(error: &GrantError) -> Self {
        match error {
            GrantError::UnknownService { .. } => Self::Service,
            GrantError::DeadRule { .. }
            | GrantError::DeadRateLimit { .. }
            | GrantError::UnknownKey { .. }
            | GrantError::Grant { .. }
            | GrantError::Covers { .. }
            | GrantError::Unmasked { .. }
            | GrantError::ProjectGrant(_)
            | GrantError::Client { .. }
            | GrantError::NoStores { .. }
            | GrantError::Program { .. }
            | GrantError::ProgramNeeds { .. }
            | GrantError::DeadNarrow { .. } => Self::Policy,
            GrantError::Audit(_) | GrantError::Ledger(_) => Self::Other,
        }
    }

    fn code(self) -> FailureCode {
        match self {
            Self::Plugins => FailureCode::PluginsUnavailable,
            Self::State => FailureCode::StateUnavailable,
            Self::Policy => FailureCode::PolicyInvalid,
            Self::Service => FailureCode::ServiceMissing,
            Self::Other => FailureCode::HostUnavailable,
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
