//! What `find` runs.

use super::argument::{Argument, WordCount};
use super::explanation::short;
use super::walk::Walker;

/// The actions of `find` that run a program.
const FIND_ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// The words that decide which programs `find` runs: its actions, and the ends of their commands.
const FIND_MARKS: [&str; 6] = ["-exec", "-execdir", "-ok", "-okdir", ";", "+"];

impl Walker {
    pub(super) fn find(&mut self, arguments: &[Argument]) {
        let mut rest = arguments;
        while let [argument, more @ ..] = rest {
            rest = more;
            if argument.text.is_some() {
                if argument.can_be(&FIND_ACTIONS) {
                    let command = action_command(rest);
                    rest = &rest[command.len()..];
                    self.find_action(command, rest.first());
                }
                continue;
            }
            // One word can only be an action if the program follows, and no program begins like an expression.
            let is_expression = |text: &str| text.starts_with(['-', '(', ')', '!', ',']);
            let is_followed = rest.first().is_some_and(|next| !next.text.as_deref().is_some_and(is_expression));
            if argument.can_be(&FIND_MARKS) && (argument.count != WordCount::One || is_followed) {
                self.doubt(format!("what find runs comes from `{}`", short(&argument.raw)));
            }
        }
    }

    /// Notes what an action of `find` runs.
    fn find_action(&mut self, command: &[Argument], end: Option<&Argument>) {
        // An expansion can end the command. Then another one, or a word of this command, can be the next action.
        let mut marks = command.iter().filter(|word| word.text.is_none() && word.can_be(&FIND_MARKS));
        if let Some(first) = marks.next() {
            let has_action = command.iter().any(|word| word.text.is_some() && word.can_be(&FIND_ACTIONS));
            if first.count != WordCount::One || has_action || marks.next().is_some() {
                self.doubt(format!("what find runs comes from `{}`", short(&first.raw)));
            }
        }
        let is_many = end.is_some_and(|end| end.can_be(&["+"]));
        let count = if is_many { WordCount::Any } else { WordCount::One };
        let words: Vec<Argument> = command.iter().map(|word| word.replacing("{}", count)).collect();
        self.launch(&words);
    }
}

/// Returns the words up to the end of the command of an action. `+` only ends it after `{}`.
fn action_command(words: &[Argument]) -> &[Argument] {
    let is = |index: usize, text: &str| words.get(index).is_some_and(|word| word.text.as_deref() == Some(text));
    let is_end = |index: &usize| is(*index, ";") || *index > 0 && is(*index, "+") && is(*index - 1, "{}");
    let length = (0..words.len()).find(is_end).unwrap_or(words.len());
    &words[..length]
}
