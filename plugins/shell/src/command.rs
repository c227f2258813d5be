//! Reads the text of a command, and finds what it runs and which files it opens.
//!
//! The text is read as bash reads it. The result only helps an approver: what it finds never allows anything. Two
//! readers must agree: `brush-parser` for the grammar, and `extent` for where a substitution ends. If they do not, or
//! if the text runs what only its execution can tell, the result has a doubt.
//!
//! In the order of a command: `limit` (what the parser may see), `walk` (grammar), `word` and `extent` (words and
//! substitutions), `variable` (which variables matter), `builtin` (what builtins of the shell run), `launcher` and
//! `find` (what programs such as `xargs` run).
//!
//! A comparison takes the text of a word after the shell has removed its quotes ([`Argument`]). If the shell expands
//! something in the word, and the result could change what runs, the explanation has a doubt.

mod argument;
mod builtin;
mod explanation;
mod extent;
mod find;
mod launcher;
mod limit;
mod variable;
mod walk;
mod word;

#[cfg(test)]
mod tests;

use self::argument::Argument;
use self::walk::Walker;

pub(crate) use self::explanation::Explanation;

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
