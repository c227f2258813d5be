//! Which call each tool of a plugin is measured with.

use crate::arguments::BenchArguments;
use crate::failure::{CommandError, FailureCode};
use portcullis_cases::LocatedCase;

/// A tool, and its call or why it has none.
pub(super) struct SelectedTool {
    /// The tool's name within the plugin. Untrusted text.
    pub(super) tool: String,
    pub(super) call: Result<SelectedCall, &'static str>,
}

/// The call of a tool.
pub(super) struct SelectedCall {
    pub(super) located: LocatedCase,
    pub(super) origin: CallOrigin,
}

/// Where a call comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CallOrigin {
    /// A case of the plugin.
    Case,
    /// The command line.
    Arguments,
}

/// Selects the first case of each tool that can be repeated, or the arguments of the command line. Also selects tools
/// that only the cases name, because a plugin may generate them.
///
/// # Errors
/// The arguments make no call.
pub(super) fn select(
    plugin: &str,
    described: impl Iterator<Item = String>,
    mut cases: Vec<LocatedCase>,
    arguments: &BenchArguments,
) -> anyhow::Result<Vec<SelectedTool>> {
    let mut tools: Vec<String> = described.collect();
    for tool in cases.iter().filter(|case| case.is_repeatable()).flat_map(LocatedCase::tools) {
        if !tools.iter().any(|known| known == tool) {
            tools.push(tool.to_owned());
        }
    }
    tools.retain(|tool| is_wanted(plugin, tool, arguments.tool.as_deref()));
    let mut selected = Vec::new();
    for tool in tools {
        let call = match &arguments.arguments {
            Some(text) => {
                let located = LocatedCase::of_call(&tool, text)
                    .map_err(|error| CommandError::new(FailureCode::Usage, format!("--arguments: {error:#}")))?;
                Ok(SelectedCall { located, origin: CallOrigin::Arguments })
            }
            None => of_case(&tool, &mut cases),
        };
        selected.push(SelectedTool { tool, call });
    }
    Ok(selected)
}

fn is_wanted(plugin: &str, tool: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| {
        wanted == tool || wanted.strip_prefix(plugin).and_then(|rest| rest.strip_prefix('.')) == Some(tool)
    })
}

fn of_case(tool: &str, cases: &mut Vec<LocatedCase>) -> Result<SelectedCall, &'static str> {
    let of_tool = |case: &LocatedCase| case.tools().any(|called| called == tool);
    match cases.iter().position(|case| case.is_repeatable() && of_tool(case)) {
        Some(at) => Ok(SelectedCall { located: cases.remove(at), origin: CallOrigin::Case }),
        None if cases.iter().any(of_tool) => {
            Err("none of its test cases is a single call that completes without an approver")
        }
        None => Err("it has no test case; write one, or name its arguments with --tool and --arguments"),
    }
}
