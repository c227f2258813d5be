//! What is known of a command, and how an approver is told.

/// Maximum number of names in a list of an explanation. An approver would not read a longer one.
const NAMES_MAX: usize = 12;

/// Maximum number of characters of a name in an explanation.
const NAME_CHARACTERS_MAX: usize = 60;

/// What a command does, as far as its text tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Explanation {
    /// The programs that it runs, without the harmless builtins of the shell.
    pub(super) programs: Vec<String>,
    /// The functions that it defines.
    pub(super) functions: Vec<String>,
    /// The files that its redirections write.
    pub(super) writes: Vec<String>,
    /// The files that its redirections read.
    pub(super) reads: Vec<String>,
    /// Why the lists may not be complete.
    pub(super) doubts: Vec<String>,
    /// Whether it evaluates the value of a variable as arithmetic, or as an array.
    pub(super) evaluates: bool,
    /// Whether a literal text has a substitution that such an evaluation would run.
    pub(super) has_literal_substitution: bool,
    /// Whether an expansion can make a builtin set a variable, as in `wait $x` and `let $x`.
    pub(super) expands_to_setting: bool,
    /// Whether a literal text has the name of a variable that changes what programs run.
    pub(super) has_risky_name: bool,
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
pub(super) fn short(text: &str) -> String {
    let mut characters = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let start: String = characters.by_ref().take(NAME_CHARACTERS_MAX).collect();
    if characters.next().is_some() { format!("{start}…") } else { start }
}
