//! Selects the calls that a user wants to see.

use super::logged_call::LoggedCall;
use crate::arguments::LogFilterArguments;
use crate::local_time::LocalTime;
use anyhow::Context as _;
use portcullis::policy::{ToolName, ToolPattern};

/// Which calls are shown.
#[derive(Debug, Default)]
pub(super) struct LogFilter {
    /// The bounds as recorded texts. They are in UTC and of one form, so their order is that of the times.
    since: Option<String>,
    until: Option<String>,
    tool: Option<ToolPattern>,
    session: Option<String>,
    denied: bool,
    asked: bool,
}

impl LogFilter {
    /// Reads the options.
    ///
    /// # Errors
    /// A time or a pattern is not one.
    pub(super) fn of(arguments: &LogFilterArguments, time: &LocalTime) -> anyhow::Result<Self> {
        let moment = |option: &str, typed: &Option<String>| {
            let parse = |typed: &String| time.moment(typed).with_context(|| format!("{option} is no time"));
            typed.as_ref().map(parse).transpose().map(|at| at.map(|at| at.to_string()))
        };
        let pattern =
            |typed: &String| ToolPattern::new(typed).context("--tool is no pattern: write files.write or files.*");
        Ok(Self {
            since: moment("--since", &arguments.since)?,
            until: moment("--until", &arguments.until)?,
            tool: arguments.tool.as_ref().map(pattern).transpose()?,
            session: arguments.session.clone(),
            denied: arguments.denied,
            asked: arguments.asked,
        })
    }

    /// Returns whether a call is shown.
    pub(super) fn matches(&self, call: &LoggedCall) -> bool {
        let names = |pattern: &ToolPattern| call.tool.parse::<ToolName>().is_ok_and(|tool| pattern.matches(&tool));
        self.since.as_deref().is_none_or(|since| second(&call.time) >= second(since))
            && self.until.as_deref().is_none_or(|until| second(&call.time) < second(until))
            && self.tool.as_ref().is_none_or(names)
            && self.session.as_ref().is_none_or(|session| *session == call.session)
            && (!self.denied || call.is_denied())
            && (!self.asked || call.was_asked())
    }
}

/// Returns a recorded time to the second. The rest has as many digits as it needs, so it has no order as a text.
fn second(recorded: &str) -> &str {
    recorded.get(..19).unwrap_or(recorded)
}
