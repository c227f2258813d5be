//! What builtins of the shell run.

use super::argument::Argument;
use super::explanation::short;
use super::walk::Walker;

/// Builtins of the shell that run nothing else. They are not worth a mention.
const HARMLESS_BUILTINS: [&str; 42] = [
    ":", "[", "bg", "break", "caller", "cd", "continue", "dirs", "disown", "echo", "exit", "false", "fg", "getopts",
    "help", "history", "jobs", "kill", "logout", "popd", "printf", "pushd", "pwd", "read", "return", "set", "shift",
    "suspend", "test", "times", "true", "type", "ulimit", "umask", "unalias", "unset", "wait", "export", "readonly",
    "declare", "typeset", "local",
];

/// Builtins whose arguments can be assignments.
const ASSIGNING_BUILTINS: [&str; 5] = ["export", "readonly", "declare", "typeset", "local"];

/// Builtins that evaluate an argument as arithmetic or as the name of an array element.
const EVALUATING_BUILTINS: [&str; 9] =
    ["[", "test", "printf", "read", "unset", "export", "declare", "typeset", "local"];

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
        if ASSIGNING_BUILTINS.contains(&name) {
            for argument in arguments {
                let raw = argument.text.as_ref().unwrap_or(&argument.raw);
                self.assign(raw.split(['=', '+', '[']).next().unwrap_or_default());
            }
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
                        None => self.evaluates(),
                    }
                }
            }
            "shopt" => self.shell_options(arguments),
            "mapfile" | "readarray" => {
                if arguments.iter().any(|argument| argument.raw.starts_with("-C") || argument.text.is_none()) {
                    self.doubt(format!("what `{name}` runs for each line"));
                }
            }
            _ => return HARMLESS_BUILTINS.contains(&name),
        }
        true
    }

    fn trap(&mut self, arguments: &[Argument]) {
        let mut arguments = arguments.iter().skip_while(|argument| argument.raw == "--");
        match arguments.next() {
            None => {}
            Some(Argument { text: Some(text), .. }) if text.starts_with('-') => {}
            Some(Argument { text: Some(text), .. }) => self.text(text),
            Some(Argument { raw, text: None }) => {
                self.doubt(format!("`trap` runs what `{}` expands to", short(raw)));
            }
        }
    }

    fn shell_options(&mut self, arguments: &[Argument]) {
        let is_safe = |argument: &Argument| match argument.text.as_deref() {
            Some(text) => text.starts_with('-') || SAFE_SHELL_OPTIONS.contains(&text),
            None => false,
        };
        if !arguments.iter().all(is_safe) {
            self.doubt("`shopt` changes how the shell reads commands");
        }
    }
}
