//! What the process ends with. These numbers are stable: scripts decide by them.

use portcullis::{Outcome, Reply};
use std::process::ExitCode;

/// Why the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// It did what was asked.
    Completed = 0,
    /// The tool ran and could not answer, or the call was cancelled.
    ToolFailed = 1,
    /// The command line is wrong, names an approval that there is not, or the host cannot open.
    Usage = 2,
    /// Policy, a person or a missing grant said no, or an approval came too late.
    Denied = 3,
    /// A person has yet to answer.
    Pending = 4,
    /// A limit ended the call, or the tool broke.
    Limit = 5,
    /// There is no such tool, or its arguments are wrong.
    InvalidArguments = 6,
    /// The plugin cannot be used.
    PluginRefused = 7,
    /// The record, or the ledger of approvals, is not what was written.
    RecordDamaged = 8,
    /// An export would lose something, and that was not to be.
    Lossy = 9,
}

impl Exit {
    /// Every way to end, by number.
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

    /// How the process ends after a call.
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

    /// How the process ends after a reply.
    pub(crate) fn after(reply: &Reply) -> Self {
        Self::of(reply.outcome())
    }

    /// The number.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::ToolFailed => "the tool failed, the call was cancelled, or a case failed",
            Self::Usage => "the command line is wrong, there is no such approval, or the host cannot open",
            Self::Denied => "denied by the policy, by a person, or for want of a grant; or settled already",
            Self::Pending => "a person has yet to approve it: `portcullis approvals list`",
            Self::Limit => "a limit was reached, or the tool broke",
            Self::InvalidArguments => "there is no such tool, or its arguments are invalid",
            Self::PluginRefused => "the plugin was refused",
            Self::RecordDamaged => "the record or the ledger of approvals is not what was written",
            Self::Lossy => "the export would lose something, and --deny-lossy was said",
        }
    }

    /// The table that `--help` ends with.
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
    fn the_table_lists_each_number_once_and_in_order() {
        let table = Exit::table();
        let numbers: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    }
}
