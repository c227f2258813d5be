//! Reads the text of a command, and finds what it runs and which files it opens.
//!
//! The text is read as bash reads it. The result only helps an approver: what it finds never allows anything. Two
//! readers must agree: `brush-parser` for the grammar, and `extent` for where a substitution ends. If they do not, or
//! if the text runs what only its execution can tell, the result has a doubt.
//!
//! In the order of a command: `limit` (what the parser may see), `walk` (grammar), `word` and `extent` (words and
//! substitutions), `launcher` (what builtins and programs such as `xargs` run).

mod argument;
mod extent;
mod launcher;
mod limit;
mod walk;
mod word;

#[cfg(test)]
mod tests;

use self::argument::Argument;
use self::walk::Walker;

/// Maximum number of names in a list of an explanation. An approver would not read a longer one.
const NAMES_MAX: usize = 12;

/// Maximum number of characters of a name in an explanation.
const NAME_CHARACTERS_MAX: usize = 60;

/// What a command does, as far as its text tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// The programs that it runs, without the harmless builtins of the shell.
    programs: Vec<String>,
    /// The functions that it defines.
    functions: Vec<String>,
    /// The files that its redirections write.
    writes: Vec<String>,
    /// The files that its redirections read.
    reads: Vec<String>,
    /// Why the lists may not be complete.
    doubts: Vec<String>,
    /// Whether it evaluates the value of a variable as arithmetic.
    evaluates: bool,
    /// Whether a literal text has a substitution within an array index. Arithmetic would run it.
    has_literal_substitution: bool,
}

/// Explains a command that is passed to `sh -c`.
pub(crate) fn explain(command: &str) -> Explanation {
    let mut walker = Walker::default();
    walker.text(command);
    walker.finish()
}

/// Explains a shell that is started with these arguments. The shell expands no argument.
pub(crate) fn explain_shell(arguments: &[String], stdin: Option<&str>) -> Explanation {
    let mut walker = Walker::default();
    let arguments: Vec<Argument> = arguments.iter().map(|text| Argument::literal(text)).collect();
    walker.shell("sh", &arguments, stdin);
    walker.finish()
}

impl Explanation {
    /// Returns why an approver must look at the command, with what is known of it; none if its text tells what it runs.
    pub(crate) fn doubt(&self) -> Option<String> {
        let doubts = self.doubts.split_first().map(|(first, more)| match more.len() {
            0 => first.clone(),
            1 => format!("{first}; and {}", more[0]),
            number => format!("{first}; and {number} more reasons"),
        })?;
        let parts =
            [("runs", self.labels()), ("writes to", shortened(&self.writes)), ("reads", shortened(&self.reads))];
        let known = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let known: Vec<String> = known.map(|(verb, names)| format!("{verb}: {}", listed(&names))).collect();
        let known = if known.is_empty() { String::new() } else { format!(". It {}", known.join("; ")) };
        Some(format!("cannot tell what this command runs: {doubts}{known}"))
    }

    fn labels(&self) -> Vec<String> {
        let label = |name: &String| match self.functions.contains(name) {
            true => format!("{} (a function)", short(name)),
            false => short(name),
        };
        self.programs.iter().map(label).collect()
    }
}

fn shortened(names: &[String]) -> Vec<String> {
    names.iter().map(|name| short(name)).collect()
}

fn listed(names: &[String]) -> String {
    match names.len().checked_sub(NAMES_MAX) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..NAMES_MAX].join(", ")),
        _ => names.join(", "),
    }
}

/// Returns a text in one line, cut to the maximum length.
fn short(text: &str) -> String {
    let mut characters = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let start: String = characters.by_ref().take(NAME_CHARACTERS_MAX).collect();
    if characters.next().is_some() { format!("{start}…") } else { start }
}
