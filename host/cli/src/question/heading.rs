//! The first line of a request: who wants to do what. This file must not know what else of the request is shown.

use portcullis::Question;
use portcullis::approvals::Subject;
use portcullis::policy::{Permission, Permissions, ToolName};
use portcullis::text::{OneLine, count_blanks};
use serde_json::Value;

/// Maximum length of an agent's name that is shown in place of the principal, in bytes. Real names are shorter.
const AGENT_BYTES_MAX: usize = 40;

/// Rows that a target may take in the line. A longer one is shown below it, where it can be cut.
const TARGET_ROWS_MAX: usize = 2;

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

/// The first line, encoded, and the argument that it shows whole.
pub(super) struct Heading {
    /// Who wants what.
    pub(super) text: String,
    /// The tool, if `text` does not name it.
    pub(super) tool: Option<String>,
    /// The pointer of the argument that the line shows.
    pub(super) shows: Option<String>,
}

impl Heading {
    /// Describes a request for a screen of this width.
    pub(super) fn of(question: &Question, arguments: Option<&Value>, width: usize) -> Self {
        let (who, tool) = (who(question), &question.tool);
        let target = arguments.and_then(|arguments| target(question, arguments, width));
        let (shows, place) = match target {
            Some((pointer, text)) => (Some(pointer), Some(text)),
            None => (None, None),
        };
        let verb = verb(tool, question.permissions);
        let (deed, named) = match (&question.subject, verb, &place) {
            (Subject::Resource { .. }, _, Some(place)) => {
                (format!("{tool} asks for something more, while it works on {place}"), true)
            }
            (Subject::Resource { .. }, _, None) => (format!("{tool} asks for something more, while it runs"), true),
            (Subject::Call | Subject::Repeat, Some(verb), Some(place)) => (format!("wants to {verb} {place}"), false),
            (Subject::Call | Subject::Repeat, None, Some(place)) => {
                (format!("wants to call {tool} with {place}"), true)
            }
            (Subject::Call | Subject::Repeat, _, None) => (format!("wants to call {tool}"), true),
        };
        let text = match &question.subject {
            Subject::Call => format!("{who} {deed}"),
            Subject::Repeat => format!("{who} {deed} once more: it made the same call several times in a row"),
            Subject::Resource { .. } => format!("{who}: {deed}"),
        };
        Self { text, tool: (!named).then(|| tool.to_string()), shows }
    }
}

/// Returns the agent, or the principal if the agent has no plain name. The caller chooses the name of the agent.
fn who(question: &Question) -> String {
    let is_plain = |name: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_. ".contains(&byte);
        !name.trim().is_empty() && name.len() <= AGENT_BYTES_MAX && name.bytes().all(plain)
    };
    let agent = question.agent.as_deref().filter(is_plain);
    OneLine(agent.unwrap_or(&question.principal)).to_string()
}

/// Returns the verb of a tool, if its name has one and its permissions agree.
fn verb(tool: &ToolName, permissions: Permissions) -> Option<&'static str> {
    let word = tool.tool.as_str().split(['-', '_']).next()?;
    let (_, verb, reach) = VERBS.iter().find(|(name, ..)| *name == word)?;
    let changes = [Permission::Write, Permission::Execute].iter().any(|it| permissions.contains(*it));
    match reach {
        VerbReach::Reads if changes => None,
        VerbReach::Reads | VerbReach::Changes => Some(verb),
    }
}

/// Returns the first place that the arguments name, if it fits the line: its pointer, and its whole text, encoded.
fn target(question: &Question, arguments: &Value, width: usize) -> Option<(String, String)> {
    let (pointer, _) = question.targets.iter().next()?;
    // The request keeps targets cut and without queries. The arguments are what runs.
    let text = arguments.pointer(pointer)?.as_str()?;
    let encoded = OneLine(&count_blanks(text)).to_string();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:@%,=~?&#*".contains(character);
    let shown = if !encoded.is_empty() && encoded.chars().all(is_plain) { encoded } else { format!("\"{encoded}\"") };
    (shown.chars().count() <= width * TARGET_ROWS_MAX).then(|| (pointer.to_owned(), shown))
}
