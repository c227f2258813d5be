//! The tools of a sub-agent: those that the policy binds, as far as the caller wants them, under names that every model
//! accepts.

use std::collections::BTreeSet;

use portcullis_sdk::prelude::*;
use portcullis_sdk::{Output, Part};

use crate::message::{CallResult, ModelCall, ModelTool};

/// Maximum tools of one sub-agent. OpenAI accepts no more, and models choose badly from longer lists.
pub(crate) const TOOLS_MAX: usize = 128;

/// Maximum length of a name. OpenAI and Anthropic accept no longer one.
const NAME_BYTES_MAX: usize = 64;

/// Maximum calls of one answer that are made. The host makes no more at the same time.
pub(crate) const CALLS_MAX: usize = 25;

/// Maximum length of a result that a model gets, in bytes: about 8,000 tokens.
const RESULT_BYTES_MAX: usize = 32 * 1024;

/// Maximum length of all results of one answer, in bytes. Half of a conversation is left for everything else.
const RESULTS_BYTES_MAX: usize = 200_000;

/// The tools of a sub-agent.
pub(crate) struct Toolbox {
    toolset: Toolset,
    /// The full name of each tool, and the tool as the model sees it.
    tools: Vec<(String, ModelTool)>,
}

impl Toolbox {
    /// Finds the tools. `patterns` selects some of them; without any, all are selected.
    pub(crate) fn open(toolset: Toolset, patterns: Option<&[String]>) -> Result<Self, Failure> {
        let mut tools = Vec::new();
        let mut names = BTreeSet::new();
        let selected = |name: &str| patterns.is_none_or(|patterns| patterns.iter().any(|pattern| fits(pattern, name)));
        for tool in toolset.list() {
            if !selected(&tool.name) {
                continue;
            }
            if tools.len() == TOOLS_MAX {
                let text = format!("these are more than {TOOLS_MAX} tools; name fewer in `tools`");
                return Err(Failure::invalid(text));
            }
            // The tool may have become unreachable since it was listed.
            let Some(definition) = toolset.definition(&tool.name) else { continue };
            let name = portable(&tool.name, &names);
            names.insert(name.clone());
            tools.push((tool.name, ModelTool { name, description: definition.description, schema: definition.schema }));
        }
        if let Some(unknown) =
            patterns.into_iter().flatten().find(|pattern| !tools.iter().any(|(name, _)| fits(pattern, name)))
        {
            return Err(Failure::invalid(format!("`tools` names {unknown:?}, but no such tool can be called")));
        }
        Ok(Self { toolset, tools })
    }

    /// Returns the tools as the model sees them.
    pub(crate) fn for_model(&self) -> Vec<ModelTool> {
        self.tools.iter().map(|(_, tool)| tool.clone()).collect()
    }

    /// Returns the full name of a tool.
    pub(crate) fn full_name(&self, name: &str) -> Option<&str> {
        self.tools.iter().find(|(_, tool)| tool.name == name).map(|(full, _)| full.as_str())
    }

    /// Makes the calls of an answer at the same time. A call that cannot be made has an error as its result.
    pub(crate) fn call(&self, calls: &[ModelCall]) -> Vec<CallResult> {
        let prepared: Vec<Result<ToolCall, String>> =
            calls.iter().enumerate().map(|(index, call)| self.prepare(index, call)).collect();
        let made: Vec<ToolCall> = prepared.iter().filter_map(|call| call.as_ref().ok().cloned()).collect();
        let mut answers = self.toolset.call_all(&made).into_iter();
        let bytes_max = RESULT_BYTES_MAX.min(RESULTS_BYTES_MAX / made.len().max(1));
        let mut result = |(call, prepared): (&ModelCall, Result<ToolCall, String>)| {
            let (text, is_error) = match prepared {
                Err(why) => (why, true),
                // The answers have the order of the calls that were made, and the refused ones have none.
                Ok(_) => match answers.next() {
                    Some(Ok(success)) => (text_of(&success), false),
                    Some(Err(failure)) => (failure.text().to_owned(), true),
                    None => ("the host did not answer this call".to_owned(), true),
                },
            };
            CallResult { id: call.id.clone(), name: call.name.clone(), text: cut(text, bytes_max), is_error }
        };
        calls.iter().zip(prepared).map(&mut result).collect()
    }

    fn prepare(&self, index: usize, call: &ModelCall) -> Result<ToolCall, String> {
        if index >= CALLS_MAX {
            return Err(format!("Not called: make at most {CALLS_MAX} calls in one answer."));
        }
        let Some(tool) = self.full_name(&call.name) else {
            return Err("Not called: there is no such tool.".to_owned());
        };
        match &call.arguments {
            Ok(arguments) => Ok(ToolCall { tool: tool.to_owned(), arguments: arguments.to_string() }),
            Err(_) => Err("Not called: the arguments are not a JSON object.".to_owned()),
        }
    }
}

/// Returns whether a pattern names a tool: its full name, or a part of it with `*` for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut place) = (0, 0);
    // The last `*`, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match (pattern.get(at), star) {
            (Some(b'*'), _) => {
                star = Some((at, place));
                at += 1;
            }
            (Some(byte), _) if *byte == name[place] => {
                at += 1;
                place += 1;
            }
            // Going back to the last `*` is enough: it can take all that an earlier one could.
            (_, Some((star_at, taken))) => {
                star = Some((star_at, taken + 1));
                (at, place) = (star_at + 1, taken + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Returns a name of letters, digits, `_` and `-` that no other tool has.
fn portable(name: &str, taken: &BTreeSet<String>) -> String {
    // The only dot of a full name is between the plugin and the tool. Providers accept none.
    let whole = name.replacen('.', "__", 1);
    let short = |bytes: usize| &whole[..whole.floor_char_boundary(bytes)];
    let first = short(NAME_BYTES_MAX).to_owned();
    let numbered = (2..).map(|number: usize| {
        let number = format!("_{number}");
        format!("{}{number}", short(NAME_BYTES_MAX.saturating_sub(number.len())))
    });
    std::iter::once(first).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Returns a result as text. A sub-agent sees no images and files.
fn text_of(success: &Success) -> String {
    let described = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(blob) | Part::File(blob) => format!("[{}, {} bytes, not shown]", blob.media_type, blob.data.len()),
    };
    match &success.output {
        Output::Parts(parts) => parts.iter().map(described).collect::<Vec<_>>().join("\n"),
        Output::Text(_) | Output::Json(_) => success.text(),
    }
}

fn cut(mut text: String, bytes_max: usize) -> String {
    let bytes = text.len();
    if bytes > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str(&format!("\n[cut: {bytes} bytes in all]"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_tools() {
        for (pattern, name, is_named) in [
            ("files.read", "files.read", true),
            ("files.read", "files.readme", false),
            ("files.*", "files.read", true),
            ("*", "files.read", true),
            ("*.read", "files.read", true),
            ("*.read", "files.reads", false),
            ("f*s.r*d", "files.read", true),
            ("web.*", "files.read", false),
            ("", "files.read", false),
        ] {
            assert_eq!(fits(pattern, name), is_named, "{pattern} {name}");
        }
    }

    #[test]
    fn names_are_portable_and_unique() {
        let mut taken = BTreeSet::new();
        let long = format!("{}.{}", "p".repeat(64), "t".repeat(64));
        for (name, expected) in [
            ("files.read", "files__read".to_owned()),
            ("files__read.x", "files__read__x".to_owned()),
            ("files.read__x", "files__read__x_2".to_owned()),
            (&long, "p".repeat(64)),
            (&long, format!("{}_2", "p".repeat(62))),
        ] {
            let portable = portable(name, &taken);
            assert_eq!(portable, expected);
            assert!(portable.len() <= NAME_BYTES_MAX);
            taken.insert(portable);
        }
    }
}
