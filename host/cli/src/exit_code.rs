//! The exit codes of the process. They are stable, because scripts depend on them.

use portcullis::{Outcome, Reply};
use std::process::ExitCode;

/// Why the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command succeeded.
    Completed = 0,
    /// The tool ran and failed, the call was cancelled, a test case failed, `bench` found something worse, `doctor`
    /// found an error, or `import` left something out.
    ToolFailed = 1,
    /// The command line is wrong, the approval does not exist, or the host cannot open.
    Usage = 2,
    /// The policy, a person or a missing grant denied the call, or an approval came too late.
    Denied = 3,
    /// The call waits for an approval.
    Pending = 4,
    /// A limit ended the call, or the tool crashed.
    Limit = 5,
    /// The tool does not exist, or its arguments are invalid.
    InvalidArguments = 6,
    /// The plugin was refused, or the server does not start.
    PluginRefused = 7,
    /// The audit log or the ledger does not verify.
    RecordDamaged = 8,
    /// The export would lose something, and `--deny-lossy` was given.
    Lossy = 9,
}

impl Exit {
    /// All exit codes, in order.
    const ALL: [Self; 10] = [
        Self::Completed,
        Self::ToolFailed,
        Self::Usage,
        Self::Denied,
        Self::Pending,
        Self::Limit,
        Self::InvalidArguments,
        Self::PluginRefused,
        Self::RecordDamaged,
        Self::Lossy,
    ];

    /// Returns the exit code for the outcome of a call.
    pub(crate) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed => Self::Completed,
            Outcome::Failed | Outcome::Cancelled => Self::ToolFailed,
            Outcome::Denied => Self::Denied,
            Outcome::Pending => Self::Pending,
            Outcome::Limit | Outcome::Trapped => Self::Limit,
            Outcome::Invalid => Self::InvalidArguments,
            Outcome::Refused => Self::PluginRefused,
        }
    }

    /// Returns the exit code for a reply.
    pub(crate) fn after(reply: &Reply) -> Self {
        Self::of(reply.outcome())
    }

    /// Returns the number.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Completed => "the command succeeded",
            Self::ToolFailed => {
                "the tool failed, the call was cancelled, a test case failed, `bench` found something worse, `doctor` \
                 found an error, or `import` left something out"
            }
            Self::Usage => "the command line is wrong, there is no such approval, or the host cannot open",
            Self::Denied => "the policy, a person or a missing grant denied it, or the request is already settled",
            Self::Pending => "the call waits for approval: see `portcullis approvals list`",
            Self::Limit => "a limit ended the call, or the tool crashed",
            Self::InvalidArguments => "the tool does not exist, or its arguments are invalid",
            Self::PluginRefused => "the plugin was refused, or the server does not start",
            Self::RecordDamaged => "the audit log or the ledger does not verify",
            Self::Lossy => "the export would lose something, and --deny-lossy was given",
        }
    }

    /// Returns the table of exit codes at the end of `--help`.
    pub(crate) fn table() -> String {
        let row = |exit: Self| format!("\n  {}  {}", exit.number(), exit.meaning());
        format!("Exit codes:{}", Self::ALL.map(row).concat())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_the_exit_code_that_is_documented() {
        let expected = [
            (Outcome::Completed, 0),
            (Outcome::Failed, 1),
            (Outcome::Cancelled, 1),
            (Outcome::Denied, 3),
            (Outcome::Pending, 4),
            (Outcome::Limit, 5),
            (Outcome::Trapped, 5),
            (Outcome::Invalid, 6),
            (Outcome::Refused, 7),
        ];
        for (outcome, number) in expected {
            assert_eq!(Exit::of(outcome).number(), number, "{outcome:?}");
        }
    }

    #[test]
    fn the_documentation_has_the_same_table() {
        let documentation = include_str!("../../../docs/codes.md");
        let rows: Vec<&str> = documentation.lines().skip_while(|line| !line.starts_with("| exit code")).collect();
        let expected = Exit::ALL.map(|exit| format!("| {} | {} |", exit.number(), exit.meaning()));
        assert_eq!(rows[2..2 + expected.len()], expected);
    }

    #[test]
    fn the_table_lists_each_number_once_and_in_order() {
        let table = Exit::table();
        let numbers: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    }
}
