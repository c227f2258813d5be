//! What programs such as `xargs` run.

use super::argument::{Argument, WordCount};
use super::builtin::is_safe_shell_option;
use super::explanation::short;
use super::walk::Walker;

/// The shells. They run the text after `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// A program that runs another program, which its arguments name.
struct Launcher {
    name: &'static str,
    /// Options without a value, as in the manual. A cluster of short options may combine them.
    flags: &'static [&'static str],
    /// Options with a value, in the next word, or attached to it.
    valued: &'static [&'static str],
    /// Options with a value that can only be attached, so that the next word is none.
    optional: &'static [&'static str],
    /// The number of words before the program.
    operands: usize,
    /// Whether words such as `NAME=value` may precede the program.
    assigns: bool,
}

const fn launcher(name: &'static str, flags: &'static [&'static str], valued: &'static [&'static str]) -> Launcher {
    Launcher { name, flags, valued, optional: &[], operands: 0, assigns: false }
}

/// An option that is not listed here gives a doubt.
const LAUNCHERS: [Launcher; 18] = [
    Launcher {
        assigns: true,
        ..launcher("env", &["-i", "-0", "-v", "--ignore-environment", "--null"], &["-u", "-C", "--unset", "--chdir"])
    },
    launcher("command", &["-p"], &[]),
    launcher("builtin", &[], &[]),
    launcher("exec", &["-c", "-l"], &["-a"]),
    launcher("nohup", &[], &[]),
    launcher("time", &["-p", "-v", "-a"], &["-f", "-o"]),
    launcher("nice", &[], &["-n", "--adjustment"]),
    launcher("ionice", &["-t"], &["-c", "-n"]),
    launcher("setsid", &["-c", "-f", "-w"], &[]),
    launcher("stdbuf", &[], &["-i", "-o", "-e", "--input", "--output", "--error"]),
    Launcher {
        operands: 1,
        ..launcher("timeout", &["-v", "--foreground", "--preserve-status"], &["-k", "-s", "--kill-after", "--signal"])
    },
    Launcher {
        assigns: true,
        ..launcher("sudo", &["-n", "-E", "-H", "-k", "-S", "-b"], &["-u", "-g", "-p", "-C", "-D", "-T"])
    },
    launcher("doas", &["-n"], &["-u"]),
    launcher("strace", &["-f", "-ff", "-c", "-t", "-tt", "-r", "-T", "-q", "-y"], &["-o", "-e", "-p", "-s", "-P"]),
    Launcher { operands: 1, ..launcher("chroot", &[], &["--userspec", "--groups"]) },
    Launcher { operands: 1, ..launcher("taskset", &["-c", "-a"], &[]) },
    launcher("busybox", &[], &[]),
    Launcher {
        optional: &["-i", "-e", "-l", "--replace", "--eof", "--max-lines"],
        ..launcher(
            "xargs",
            &["-0", "-r", "-t", "-p", "-x", "--null", "--no-run-if-empty"],
            &["-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--delimiter"],
        )
    },
];

/// Programs that run commands in ways that are not read here.
const OPAQUE_PROGRAMS: [&str; 7] = ["parallel", "watch", "script", "su", "nsenter", "unshare", "flock"];

impl Walker {
    /// Notes what a command of these words runs.
    pub(super) fn launch(&mut self, words: &[Argument]) {
        self.descend(|walker| walker.launch_words(words));
    }

    fn launch_words(&mut self, words: &[Argument]) {
        let Some((word, arguments)) = words.split_first() else { return };
        let Some(name) = &word.text else {
            return self.doubt(format!("the name of a program comes from `{}`", short(&word.raw)));
        };
        if name.is_empty()
            || name == "!"
            || name.starts_with('-')
            || name.contains(|character: char| character == '=' || character.is_whitespace() || character.is_control())
        {
            return self.doubt(format!("the name `{}` is not the name of a program", short(name)));
        }
        // A path names the same program, but never a builtin.
        let base = name.rsplit('/').next().unwrap_or(name);
        if base == name && self.builtin(name, arguments) {
            return;
        }
        // These three are no programs. They only change how the shell finds the one that follows.
        if base != "command" && base != "builtin" && base != "exec" {
            self.program(name);
        }
        if SHELLS.contains(&base) {
            self.shell(name, arguments, None);
        } else if base == "find" {
            self.find(arguments);
        } else if OPAQUE_PROGRAMS.contains(&base) {
            self.doubt(format!("what {base} runs"));
        } else if let Some(launcher) = LAUNCHERS.iter().find(|launcher| launcher.name == base) {
            self.launcher(launcher, arguments);
        }
    }

    /// Notes what a shell runs. A file that it runs is a program like any other.
    pub(super) fn shell(&mut self, name: &str, arguments: &[Argument], stdin: Option<&str>) {
        let base = name.rsplit('/').next().unwrap_or(name);
        let (mut arguments, mut reads_text, mut reads_stdin) = (arguments.iter(), false, false);
        let operand = loop {
            let Some(argument) = arguments.next() else { break None };
            let Some(text) = argument.text.as_deref() else {
                return self.doubt(format!("the arguments of {base} come from `{}`", short(&argument.raw)));
            };
            match text {
                "-" | "--" => break arguments.next(),
                "--norc" | "--noprofile" | "--posix" | "--login" => {}
                _ if text.starts_with("--") => {
                    return self.doubt(format!("what `{}` of {base} means", short(text)));
                }
                _ if text.starts_with(['-', '+']) => {
                    reads_text |= text.contains('c');
                    reads_stdin |= text.contains('s');
                    match text.find(['o', 'O']) {
                        None => {}
                        // The option has a name, which is the next word: `-euo pipefail`.
                        Some(position) if position + 1 == text.len() => {
                            let name = arguments.next();
                            if let Some(Argument { raw, text: None, .. }) = name {
                                return self.doubt(format!("the arguments of {base} come from `{}`", short(raw)));
                            }
                            if text.ends_with('O') && !name.is_none_or(is_safe_shell_option) {
                                self.doubt(format!("`{base} -O` changes how the shell reads commands"));
                            }
                        }
                        // Some shells read the name from the rest of this word, and some from the next.
                        Some(_) => return self.doubt(format!("what `{}` of {base} means", short(text))),
                    }
                }
                _ => break Some(argument),
            }
        };
        match operand {
            Some(Argument { text: Some(text), .. }) if reads_text => self.text(text),
            Some(Argument { text: Some(_), .. }) if !reads_stdin => {}
            Some(Argument { raw, text: None, .. }) => {
                self.doubt(format!("what {base} runs comes from `{}`", short(raw)));
            }
            _ => match stdin {
                Some(stdin) if !reads_text => self.text(stdin),
                _ => self.doubt(format!("{base} reads its commands while it runs")),
            },
        }
    }

    fn launcher(&mut self, launcher: &Launcher, arguments: &[Argument]) {
        let name = launcher.name;
        let (mut index, mut operands, mut is_ended) = (0, launcher.operands, false);
        let mut options: Vec<(&str, Option<Argument>)> = Vec::new();
        while let Some(argument) = arguments.get(index) {
            let Some(text) = argument.text.as_deref() else {
                return self.doubt(format!("what {name} runs comes from `{}`", short(&argument.raw)));
            };
            index += 1;
            match text {
                "--" if !is_ended => is_ended = true,
                // It means `-i`.
                "-" if name == "env" => {}
                // `command -v` only says what a name means.
                "-v" | "-V" if name == "command" && !is_ended => return,
                _ if !is_ended && text.starts_with('-') && text.len() > 1 => {
                    let Some(found) = option(launcher, text) else {
                        return self.doubt(format!("what `{}` of {name} means", short(text)));
                    };
                    let value = match found.value {
                        OptionValue::None => None,
                        OptionValue::Attached(value) => Some(Argument::literal(value)),
                        OptionValue::Next => {
                            index += 1;
                            arguments.get(index - 1).cloned()
                        }
                    };
                    if let Some(value) = value.as_ref().filter(|value| value.count != WordCount::One) {
                        // Its second word can be the program.
                        return self.doubt(format!("what {name} runs comes from `{}`", short(&value.raw)));
                    }
                    options.push((found.name, value));
                }
                // The name can be any text: `env a.b=c program`.
                _ if launcher.assigns && text.contains('=') => {
                    self.assign(text.split('=').next().unwrap_or_default());
                }
                _ if operands > 0 => operands -= 1,
                _ => {
                    index -= 1;
                    break;
                }
            }
        }
        let rest = arguments.get(index..).unwrap_or_default();
        match name {
            "xargs" => self.xargs(&options, rest),
            "strace" if options.iter().any(|(option, value)| *option == "-o" && is_command(value.as_ref())) => {
                self.doubt("what `strace -o` runs");
                self.launch(rest);
            }
            "chroot" if rest.is_empty() => self.doubt("chroot starts a shell"),
            _ => self.launch(rest),
        }
    }

    fn xargs(&mut self, options: &[(&str, Option<Argument>)], command: &[Argument]) {
        let mut placeholder = None;
        for (option, value) in options {
            placeholder = match (*option, value) {
                ("-I" | "-i" | "--replace", Some(Argument { raw, text: None, .. })) => {
                    return self.doubt(format!("what xargs replaces comes from `{}`", short(raw)));
                }
                ("-I" | "-i" | "--replace", Some(Argument { text: Some(text), .. })) => Some(text.as_str()),
                ("-I" | "-i" | "--replace", None) => Some("{}"),
                _ => placeholder,
            };
        }
        let mut words: Vec<Argument> = match placeholder {
            Some(placeholder) => command.iter().map(|word| word.replacing(placeholder, WordCount::One)).collect(),
            None => command.to_vec(),
        };
        // Each of these options makes xargs append its input, although it has a placeholder.
        let appends = |option: &str| matches!(option, "-n" | "-L" | "-l" | "--max-args" | "--max-lines");
        let is_appending = placeholder.is_none() || options.iter().any(|(option, _)| appends(option));
        // Without a command, xargs only prints its input.
        if is_appending && !words.is_empty() {
            words.push(Argument::unknown("the input of xargs"));
        }
        self.launch(&words);
    }
}

/// An option of a launcher.
struct LaunchOption<'a> {
    name: &'static str,
    value: OptionValue<'a>,
}

/// Where the value of an option is.
enum OptionValue<'a> {
    /// It has none.
    None,
    /// In the same word.
    Attached(&'a str),
    /// In the next word.
    Next,
}

/// Finds the option of a word: the last one of a cluster such as `-rn1`. Only that one can have a value.
fn option<'a>(launcher: &Launcher, text: &'a str) -> Option<LaunchOption<'a>> {
    let listed = |options: &[&'static str], name: &str| options.iter().find(|option| **option == name).copied();
    let (long, attached) = match text.split_once('=').filter(|_| text.starts_with("--")) {
        Some((long, value)) => (long, Some(value)),
        None => (text, None),
    };
    if let Some(name) = listed(launcher.valued, long) {
        return Some(LaunchOption { name, value: attached.map_or(OptionValue::Next, OptionValue::Attached) });
    }
    if let Some(name) = listed(launcher.optional, long) {
        return Some(LaunchOption { name, value: attached.map_or(OptionValue::None, OptionValue::Attached) });
    }
    if let Some(name) = listed(launcher.flags, text) {
        return Some(LaunchOption { name, value: OptionValue::None });
    }
    if launcher.name == "nice" && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(LaunchOption { name: "-n", value: OptionValue::None });
    }
    let mut letters = text[1..].chars();
    let mut last = None;
    while let Some(letter) = letters.next() {
        let short = format!("-{letter}");
        let rest = letters.as_str();
        if let Some(name) = listed(launcher.valued, &short) {
            let value = if rest.is_empty() { OptionValue::Next } else { OptionValue::Attached(rest) };
            return Some(LaunchOption { name, value });
        }
        if let Some(name) = listed(launcher.optional, &short) {
            let value = if rest.is_empty() { OptionValue::None } else { OptionValue::Attached(rest) };
            return Some(LaunchOption { name, value });
        }
        last = Some(LaunchOption { name: listed(launcher.flags, &short)?, value: OptionValue::None });
    }
    last
}

/// Returns whether `strace` runs this value of `-o`, and writes to the program.
fn is_command(value: Option<&Argument>) -> bool {
    value.is_some_and(|value| match &value.text {
        Some(text) => text.starts_with(['|', '!']),
        None => value.start.is_empty() || value.start.starts_with(['|', '!']),
    })
}
