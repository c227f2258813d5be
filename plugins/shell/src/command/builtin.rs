//! What builtins of the shell run, and which variables they set.

use super::argument::{Argument, WordCount};
use super::explanation::short;
use super::walk::Walker;

/// Builtins of the shell that run nothing else, and set no variable that their arguments name. They are not worth a
/// mention.
const HARMLESS_BUILTINS: [&str; 31] = [
    ":", "[", "bg", "break", "caller", "cd", "continue", "dirs", "disown", "echo", "exit", "false", "fg", "help",
    "history", "kill", "logout", "popd", "pushd", "pwd", "return", "set", "shift", "suspend", "test", "times", "true",
    "type", "ulimit", "umask", "unalias",
];

/// Builtins that evaluate an argument as arithmetic, as the name of an array element or as an array.
const EVALUATING_BUILTINS: [&str; 11] =
    ["[", "test", "printf", "read", "unset", "wait", "export", "readonly", "declare", "typeset", "local"];

/// Builtins that run commands in a way that their arguments do not show.
const OPAQUE_BUILTINS: [(&str, &str); 9] = [
    (".", "it runs the commands of another file"),
    ("source", "it runs the commands of another file"),
    ("alias", "it gives names another meaning"),
    ("hash", "it gives names another meaning"),
    ("enable", "it changes the builtins of the shell"),
    ("bind", "it binds commands to keys"),
    ("complete", "it registers commands"),
    ("compgen", "it can run commands"),
    ("fc", "it runs commands of the history"),
];

/// The options of `shopt` that change neither how a command is read nor what its names mean.
const SAFE_SHELL_OPTIONS: [&str; 8] =
    ["dotglob", "failglob", "globstar", "inherit_errexit", "lastpipe", "nocaseglob", "nocasematch", "nullglob"];

impl Walker {
    /// Notes what a builtin runs. Returns whether the name is that of a builtin which runs no program of its arguments.
    pub(super) fn builtin(&mut self, name: &str, arguments: &[Argument]) -> bool {
        if EVALUATING_BUILTINS.contains(&name) {
            self.evaluates();
        }
        if let Some((_, doubt)) = OPAQUE_BUILTINS.iter().find(|(builtin, _)| *builtin == name) {
            self.doubt(*doubt);
            return true;
        }
        match name {
            "eval" => {
                self.doubt("`eval` runs text as a command");
                let texts: Option<Vec<&str>> = arguments.iter().map(|argument| argument.text.as_deref()).collect();
                if let Some(texts) = texts {
                    self.text(&texts.join(" "));
                }
            }
            "trap" => self.trap(arguments),
            "let" => {
                for argument in arguments {
                    match &argument.text {
                        Some(text) => self.arithmetic(text),
                        None => {
                            self.evaluates();
                            self.expands_to_setting();
                        }
                    }
                }
            }
            "shopt" => self.shell_options(arguments),
            "export" | "readonly" | "declare" | "typeset" | "local" => self.declaration(name, arguments),
            "unset" => self.removal(arguments),
            "read" => self.read(arguments),
            "mapfile" | "readarray" => self.mapfile(name, arguments),
            "printf" => self.printf(arguments),
            "getopts" => self.getopts(arguments),
            "wait" => self.wait(arguments),
            "jobs" => {
                let BuiltinArguments { options, operands, .. } = BuiltinArguments::of(arguments, "");
                if options.iter().any(|(letter, _)| *letter == 'x') || operands.iter().any(|job| job.text.is_none()) {
                    self.doubt("what `jobs -x` runs");
                }
            }
            _ => return HARMLESS_BUILTINS.contains(&name),
        }
        true
    }

    fn trap(&mut self, arguments: &[Argument]) {
        let BuiltinArguments { options, operands, .. } = BuiltinArguments::of(arguments, "");
        if !options.is_empty() {
            // `-l` and `-p` print something. Any other option is an error.
            return;
        }
        match operands.first() {
            None => {}
            Some(Argument { text: Some(text), .. }) if text == "-" => {}
            Some(Argument { text: Some(text), .. }) => self.text(text),
            Some(Argument { raw, text: None, .. }) => {
                self.doubt(format!("`trap` runs what `{}` expands to", short(raw)));
            }
        }
    }

    fn declaration(&mut self, name: &str, arguments: &[Argument]) {
        let BuiltinArguments { options, operands, .. } = BuiltinArguments::of(arguments, "");
        let has = |letters: &str| options.iter().any(|(letter, _)| letters.contains(*letter));
        if has("n") && name != "export" {
            self.doubt(format!("`{name} -n` gives a variable another name"));
        }
        // It expands the text of an array once more: `declare -a 'x=($(id))'`.
        let can_expand = |text: &String| text.contains(['$', '`']);
        if has("aA") && operands.iter().any(|word| !word.is_array && word.text.as_ref().is_none_or(can_expand)) {
            self.doubt(format!("`{name}` expands the text of an array"));
        }
        self.sets(name, operands);
    }

    fn removal(&mut self, arguments: &[Argument]) {
        let BuiltinArguments { operands, .. } = BuiltinArguments::of(arguments, "");
        for variable in self.variables("unset", operands) {
            self.unset(variable);
        }
    }

    fn read(&mut self, arguments: &[Argument]) {
        let BuiltinArguments { options, operands, .. } = BuiltinArguments::of(arguments, "adinNptu");
        self.sets("read", operands);
        // The value of another option than `-a` may be any text, but only if it is one word.
        let values = options.iter().filter_map(|(letter, value)| value.as_ref().map(|value| (letter, value)));
        values
            .filter(|(letter, value)| **letter == 'a' || value.count != WordCount::One)
            .for_each(|(_, value)| self.sets("read", [value]));
    }

    fn mapfile(&mut self, name: &str, arguments: &[Argument]) {
        let BuiltinArguments { options, operands, .. } = BuiltinArguments::of(arguments, "CcdnOsu");
        let has_callback = options.iter().any(|(letter, _)| *letter == 'C');
        if has_callback || arguments.iter().any(|argument| argument.text.is_none()) {
            self.doubt(format!("what `{name}` runs for each line"));
        }
        self.sets(name, operands);
    }

    fn printf(&mut self, arguments: &[Argument]) {
        let BuiltinArguments { options, operands, is_ended } = BuiltinArguments::of(arguments, "v");
        self.sets("printf", options.iter().filter_map(|(_, value)| value.as_ref()));
        // A single word is an option without a value, or the format.
        let is_alone = operands.len() == 1 && operands[0].count == WordCount::One;
        if !is_ended && !is_alone && operands.first().is_some_and(Argument::can_be_option) {
            self.expands_to_setting();
        }
    }

    fn getopts(&mut self, arguments: &[Argument]) {
        let BuiltinArguments { operands, .. } = BuiltinArguments::of(arguments, "");
        // The name follows the letters of the options. If these are not known, the name can be another word.
        let letters = operands.first().filter(|letters| letters.text.is_none());
        self.sets("getopts", letters.into_iter().chain(operands.get(1)));
    }

    fn wait(&mut self, arguments: &[Argument]) {
        let BuiltinArguments { options, operands, is_ended } = BuiltinArguments::of(arguments, "p");
        self.sets("wait", options.iter().filter_map(|(_, value)| value.as_ref()));
        if !is_ended && operands.first().is_some_and(Argument::can_be_option) {
            self.expands_to_setting();
        }
    }

    /// Notes that a builtin sets the variables that these words name.
    fn sets<'a>(&mut self, builtin: &str, words: impl IntoIterator<Item = &'a Argument>) {
        for variable in self.variables(builtin, words) {
            self.assign(variable);
        }
    }

    /// Returns the variables that these words name. An expansion can name any.
    fn variables<'a>(&mut self, builtin: &str, words: impl IntoIterator<Item = &'a Argument>) -> Vec<&'a str> {
        let mut variables = Vec::new();
        for word in words {
            match word.variable() {
                Some(variable) => variables.push(variable),
                None => self.doubt(format!("the variable that `{builtin}` changes comes from `{}`", short(&word.raw))),
            }
        }
        variables
    }

    fn shell_options(&mut self, arguments: &[Argument]) {
        let is_option = |argument: &Argument| argument.text.as_deref().is_some_and(|text| text.starts_with('-'));
        if !arguments.iter().all(|argument| is_option(argument) || is_safe_shell_option(argument)) {
            self.doubt("`shopt` changes how the shell reads commands");
        }
    }
}

/// Returns whether an option of `shopt` changes neither how a command is read nor what its names mean.
pub(super) fn is_safe_shell_option(name: &Argument) -> bool {
    name.text.as_deref().is_some_and(|text| SAFE_SHELL_OPTIONS.contains(&text))
}

/// The arguments of a builtin, as bash separates them.
struct BuiltinArguments<'a> {
    options: Vec<(char, Option<Argument>)>,
    /// What follows the options. The first one can be an option if its text is not known.
    operands: &'a [Argument],
    /// Whether `--` ended the options.
    is_ended: bool,
}

impl<'a> BuiltinArguments<'a> {
    /// Separates the options. Those of the letters `valued` have a value.
    fn of(arguments: &'a [Argument], valued: &str) -> Self {
        let (mut options, mut operands) = (Vec::new(), arguments);
        while let [word, rest @ ..] = operands {
            let letters = word.text.as_deref().and_then(|text| text.strip_prefix('-'));
            let Some(letters) = letters.filter(|letters| !letters.is_empty()) else { break };
            operands = rest;
            if letters == "-" {
                return Self { options, operands, is_ended: true };
            }
            for (index, letter) in letters.char_indices() {
                if !valued.contains(letter) {
                    options.push((letter, None));
                    continue;
                }
                let attached = &letters[index + letter.len_utf8()..];
                let value = match (attached, operands) {
                    ("", [value, rest @ ..]) => {
                        operands = rest;
                        Some(value.clone())
                    }
                    ("", []) => None,
                    (attached, _) => Some(Argument::literal(attached)),
                };
                options.push((letter, value));
                break;
            }
        }
        Self { options, operands, is_ended: false }
    }
}
