//! The codes of errors that end a command. They are stable, because programs depend on them: `docs/codes.md`.

use crate::exit_code::Exit;
use serde::Serialize;

/// Declares the codes, each with its text and its meaning, and the list of all of them.
macro_rules! failure_codes {
    ($($code:ident $text:literal $meaning:literal,)+) => {
        /// Why a command has no result.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub(crate) enum FailureCode {
            $(#[doc = $meaning] #[serde(rename = $text)] $code,)+
        }

        #[cfg(test)]
        impl FailureCode {
            /// All codes with their meanings, in the order of the documentation.
            const ALL: &[(Self, &'static str, &'static str)] = &[$((Self::$code, $text, $meaning),)+];
        }
    };
}

failure_codes! {
    Usage "usage" "the command line is wrong",
    Io "io" "a file, a directory or a stream cannot be read or written",
    NoState "no-state" "there is no state directory, so nothing was recorded yet",
    StateUnavailable "state-unavailable" "the state directory cannot be used",
    PluginsUnavailable "plugins-unavailable" "the plugin directory cannot be used",
    PolicyInvalid "policy-invalid" "the policy cannot be read, is not valid, or grants what cannot be granted",
    ServiceMissing "service-missing" "the policy binds a service, which only an application can provide",
    HostUnavailable "host-unavailable" "the host cannot open for another reason",
    LedgerUnavailable "ledger-unavailable" "the ledger of approvals cannot be used",
    AuditUnavailable "audit-unavailable" "the audit log cannot be used",
    Unrecorded "unrecorded" "the change took effect, but its entry in the audit log could not be written yet",
    UnknownPlugin "unknown-plugin" "no plugin of this name is installed",
    PluginRefused "plugin-refused" "the host refuses the plugin",
    UnknownCall "unknown-call" "the audit log has no such call",
    UnknownApproval "unknown-approval" "no approval request and no approval has this id, or several have",
    NotARequest "not-a-request" "the id is that of an approval, not of a request",
    NotOffered "not-offered" "the request does not offer what the approval would cover",
    ApprovalSettled "approval-settled" "the request was answered before, or withdrawn",
    ApprovalExpired "approval-expired" "the request has expired",
    CallEnded "call-ended" "the call that made the request has ended",
    CallChanged "call-changed" "the call that would run now is not the one that was requested",
    CallWaits "call-waits" "the process that made the request still waits, and runs the call itself",
    NoTerminal "no-terminal" "the command asks for confirmation, and there is no terminal to ask at",
    NotConfirmed "not-confirmed" "the user did not confirm",
    NotTrusted "not-trusted" "no such policy was trusted",
    NothingToUndo "nothing-to-undo" "`init` wrote nothing for this directory",
    AccessInvalid "access-invalid" "a file of tokens or keys is not valid",
    ListenFailed "listen-failed" "the server cannot listen at this address",
    ProjectInvalid "project-invalid" "the plugin project cannot be created or read",
    BuildFailed "build-failed" "a compiler or another tool failed",
    PackageUnavailable "package-unavailable" "the package of a server cannot be found, installed or started",
    LoginFailed "login-failed" "the login to a server failed, or the policy does not log in to it",
    NoCases "no-cases" "there is no test case to run",
    Interrupted "interrupted" "a signal ended the command",
    Denied "denied" "the command was denied",
    RecordDamaged "record-damaged" "the audit log or the ledger does not verify",
    Failed "failed" "something else failed; the message says what",
}

impl FailureCode {
    /// Returns the code of a command that ends with an exit code and says no more.
    pub(crate) fn of_exit(exit: Exit) -> Self {
        match exit {
            Exit::Usage => Self::Usage,
            Exit::Denied | Exit::Pending => Self::Denied,
            Exit::PluginRefused => Self::PluginRefused,
            Exit::RecordDamaged => Self::RecordDamaged,
            Exit::Completed | Exit::ToolFailed | Exit::Limit | Exit::InvalidArguments | Exit::Lossy => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documentation, whose table has one row for each code.
    const DOCUMENTATION: &str = include_str!("../../../docs/codes.md");

    #[test]
    fn every_code_is_documented_and_no_other() {
        let section = DOCUMENTATION.split("\n## ").find(|section| section.starts_with("Codes of errors")).unwrap();
        let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
        let expected: Vec<String> =
            FailureCode::ALL.iter().map(|(_, text, meaning)| format!("| `{text}` | {meaning} |")).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn every_code_is_serialized_as_it_is_documented() {
        for (code, text, _) in FailureCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), *text);
        }
    }
}
