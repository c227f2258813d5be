//! The help: commands in groups, and examples for each. Everything else in it comes from the parser.
//!
//! A new command is shown without an entry here, in the last group; a unit test asks for its group and its examples.

use super::Arguments;
use super::examples::examples;
use crate::wrap::HELP_COLUMNS_MAX;
use clap::{Command, CommandFactory, FromArgMatches};

/// The groups of the commands in the order of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Use", &["init", "list", "inspect", "call", "serve", "server", "login", "logout", "import", "export"]),
    ("Approve", &["watch", "console", "approvals"]),
    ("Look back", &["log", "audit"]),
    ("Policy", &["explain", "allow", "ask", "deny", "grant", "pause", "resume", "suggest", "trust", "accept"]),
    ("Write tools", &["new", "build", "test", "bench", "dev", "check"]),
    (OTHER, &["doctor", "uninstall", "completions", "man", "help", "version"]),
];

/// The group of commands that no other group has.
const OTHER: &str = "Other";

/// The layout of the program's own help. The groups are before the options.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options of every command:\n{options}{after-help}";

/// Parses the command line of the process.
///
/// # Errors
/// The command line is wrong, or asks for help or the version.
pub(crate) fn parse(width: Option<usize>) -> Result<Arguments, clap::Error> {
    let mut parser = parser(help_width(width));
    let matches = parser.try_get_matches_from_mut(std::env::args_os())?;
    // This error does not know its command yet, so it would show no usage.
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut parser))
}

/// Returns the width of the help on a terminal of some width, or elsewhere.
pub(crate) fn help_width(width: Option<usize>) -> usize {
    width.unwrap_or(HELP_COLUMNS_MAX).min(HELP_COLUMNS_MAX)
}

/// Returns the parser with its help laid out for a width.
pub(crate) fn parser(width: usize) -> Command {
    let command = program();
    let groups = groups(&command);
    // The parser only decides by the width whether a description goes below its option.
    command.term_width(width).help_template(TEMPLATE).before_help(groups)
}

/// Returns the commands with their examples.
pub(crate) fn program() -> Command {
    with_examples(Arguments::command(), &mut Vec::new())
}

fn with_examples(command: Command, path: &mut Vec<String>) -> Command {
    let command = command.mut_subcommands(|inner| {
        path.push(inner.get_name().to_owned());
        let inner = with_examples(inner, path);
        path.pop();
        inner
    });
    match examples(&path.join(" ")) {
        Some(lines) => command.after_help(format!("Examples:\n{lines}")),
        // Commands that edit the policy have their examples at the end of a longer text.
        None => command,
    }
}

/// Returns the commands in their groups, each with its description.
fn groups(command: &Command) -> String {
    let commands: Vec<&Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let width = commands.iter().map(|command| command.get_name().len()).max().unwrap_or(0);
    let line = |command: &&Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:width$}  {about}\n", command.get_name())
    };
    let mut text = String::new();
    for (title, names) in GROUPS {
        let mut lines: String =
            names.iter().filter_map(|name| find(&commands, name)).map(|command| line(&command)).collect();
        if title == OTHER {
            lines.extend(commands.iter().filter(|command| group(command.get_name()).is_none()).map(line));
        }
        if !lines.is_empty() {
            text.push_str(&format!("{title}:\n{lines}\n"));
        }
    }
    text.trim_end().to_owned()
}

fn find<'a>(commands: &[&'a Command], name: &str) -> Option<&'a Command> {
    commands.iter().find(|command| command.get_name() == name).copied()
}

/// Returns the title of a command's group.
fn group(name: &str) -> Option<&'static str> {
    GROUPS.into_iter().find(|(_, names)| names.contains(&name)).map(|(title, _)| title)
}

#[cfg(test)]
mod tests {
    use super::super::examples::EXAMPLES;
    use super::*;

    /// Collects every command below another one, with its path.
    fn commands(command: &Command, path: &str, found: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands() {
            let path = format!("{path} {}", inner.get_name()).trim().to_owned();
            commands(inner, &path, found);
            found.push((path, inner.clone()));
        }
    }

    #[test]
    fn every_command_has_a_group_and_a_short_description() {
        for command in program().get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(group(command.get_name()).is_some(), "add {} to a group", command.get_name());
            assert!((1..=110).contains(&about.len()), "{}: {about}", command.get_name());
        }
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        let mut found = Vec::new();
        commands(&program(), "", &mut found);
        for (path, command) in found {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = examples.lines().filter_map(|line| line.strip_prefix("  portcullis ")).collect();
            // The examples of a group are those of its commands.
            assert!(!lines.is_empty() || command.has_subcommands(), "{path}: add examples");
            for line in lines {
                let words = words(line);
                let parsed = program().try_get_matches_from(["portcullis".to_owned()].into_iter().chain(words));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    /// A list that is of no command, or of one with a longer help, would never be shown.
    #[test]
    fn every_list_of_examples_is_the_help_of_a_command() {
        let mut found = Vec::new();
        commands(&Arguments::command(), "", &mut found);
        for (path, _) in EXAMPLES {
            let (_, command) = found.iter().find(|(found, _)| found == path).unwrap_or_else(|| panic!("{path}"));
            assert!(command.get_after_help().is_none(), "{path} has a longer help");
        }
    }

    /// Splits an example as a shell does: at spaces outside single quotes, up to a redirection, a pipe or a note.
    fn words(line: &str) -> Vec<String> {
        let end =
            [" > ", " < ", " | ", "  "].into_iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
        let (mut words, mut quoted) = (vec![String::new()], false);
        for character in line[..end].chars() {
            match character {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                _ => words.last_mut().unwrap().push(character),
            }
        }
        words
    }
}
