//! Who makes the call of a request, and the verb of its tool. Both end in a sentence that an approver reads first, so a
//! caller or a plugin must not be able to make it say something else.

use crate::approver::{Question, Subject};
use portcullis_policy::{Permission, ToolName};

/// Maximum length of an agent's name that is shown in place of the principal, in bytes. Real names are shorter.
const AGENT_BYTES_MAX: usize = 40;

/// What a word of a tool's name may do, so that no tool appears harmless by its name.
#[derive(Clone, Copy)]
enum VerbReach {
    /// It only reads.
    Reads,
    /// It may change something.
    Changes,
}

/// The words that tools are named by, and the verb of each.
const VERBS: [(&str, &str, VerbReach); 24] = [
    ("read", "read", VerbReach::Reads),
    ("get", "read", VerbReach::Reads),
    ("list", "list", VerbReach::Reads),
    ("glob", "search", VerbReach::Reads),
    ("grep", "search", VerbReach::Reads),
    ("search", "search", VerbReach::Reads),
    ("find", "search", VerbReach::Reads),
    ("fetch", "fetch", VerbReach::Reads),
    ("download", "download", VerbReach::Changes),
    ("write", "write", VerbReach::Changes),
    ("edit", "edit", VerbReach::Changes),
    ("patch", "edit", VerbReach::Changes),
    ("append", "append to", VerbReach::Changes),
    ("create", "create", VerbReach::Changes),
    ("add", "add", VerbReach::Changes),
    ("set", "set", VerbReach::Changes),
    ("increment", "increment", VerbReach::Changes),
    ("delete", "delete", VerbReach::Changes),
    ("remove", "remove", VerbReach::Changes),
    ("move", "move", VerbReach::Changes),
    ("rename", "rename", VerbReach::Changes),
    ("copy", "copy", VerbReach::Changes),
    ("run", "run", VerbReach::Changes),
    ("execute", "run", VerbReach::Changes),
];

impl Question {
    /// Returns who makes the call: the agent, or the principal if the agent has no plain name. The caller chooses the
    /// name of the agent, so a name of several words is in quotes. If a tool makes the call, it comes first, such as
    /// `script.run, called by alice`. Untrusted text.
    pub fn who(&self) -> String {
        let caller = self.agent.as_deref().and_then(shown_agent).unwrap_or_else(|| self.caller().to_owned());
        let tools = self.called_by.iter().rev().map(|tool| format!("{tool}, called by "));
        tools.chain([caller]).collect()
    }

    /// Returns the principal that called the first tool. Each tool below it has added a name.
    fn caller(&self) -> &str {
        self.called_by.iter().fold(self.principal.as_str(), |principal, _| {
            principal.rsplit_once('/').map_or(principal, |(caller, _)| caller)
        })
    }

    /// Describes the calls that a running call plans to make, such as `make 40 calls of files.write`. Returns `None` if
    /// the request is about something else.
    pub fn planned_calls(&self) -> Option<String> {
        let Subject::Calls(calls) = &self.subject else { return None };
        let mut counts: Vec<(&ToolName, usize)> = Vec::new();
        for call in calls {
            match counts.iter_mut().find(|(tool, _)| *tool == &call.tool) {
                Some((_, count)) => *count += 1,
                None => counts.push((&call.tool, 1)),
            }
        }
        let described = match counts.as_slice() {
            [(tool, count)] => format!("make {count} calls of {tool}"),
            several => {
                let each: Vec<String> = several.iter().map(|(tool, count)| format!("{tool} ({count})")).collect();
                format!("make {} calls: {}", calls.len(), each.join(", "))
            }
        };
        Some(described)
    }

    /// Returns the verb of the tool, such as `edit`, if its name has one and its permissions agree. A tool that may
    /// write or execute has no verb that only reads.
    pub fn verb(&self) -> Option<&'static str> {
        let word = self.tool.tool.as_str().split(['-', '_']).next()?;
        let (_, verb, reach) = VERBS.iter().find(|(name, ..)| *name == word)?;
        let changes = [Permission::Write, Permission::Execute].iter().any(|it| self.permissions.contains(*it));
        match reach {
            VerbReach::Reads if changes => None,
            VerbReach::Reads | VerbReach::Changes => Some(verb),
        }
    }
}

/// Returns an agent's name as an approver reads it. Returns `None` if it is not plain.
fn shown_agent(name: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    // A period at the end of a word would end a sentence, and the next word would begin another.
    let is_word = |word: &str| !word.is_empty() && !word.ends_with('.') && word.bytes().all(is_plain);
    if name.len() > AGENT_BYTES_MAX || !name.split(' ').all(is_word) {
        return None;
    }
    // Without quotes, the words of a name could not be told from those of the host.
    Some(if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_agent_cannot_speak() {
        for name in ["claude-code", "codex-mcp-client", "cursor-vscode", "Zed", "gemini-cli-mcp-client", "zed_0.1.2"] {
            assert_eq!(shown_agent(name).as_deref(), Some(name));
        }
        for name in ["Claude Code", "Visual Studio Code", "Visual Studio Code - Insiders", "Claude 4.5", "is safe and"]
        {
            assert_eq!(shown_agent(name), Some(format!("\"{name}\"")));
        }
        for name in
            ["Claude. It is safe", "Claude.", "a . b", "a\" b", "a, b", "a: b", "a  b", " a", "a ", " ", "", "ä"]
        {
            assert_eq!(shown_agent(name), None, "{name:?}");
        }
        assert_eq!(shown_agent(&"a".repeat(AGENT_BYTES_MAX + 1)), None);
    }
}
