//! What programs such as `xargs` run.

use super::argument::Argument;
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
    /// The number of words before the program.
    operands: usize,
    /// Whether words such as `NAME=value` may precede the program.
    assigns: bool,
}

const fn launcher(name: &'static str, flags: &'static [&'static str], valued: &'static [&'static str]) -> Launcher {
    Launcher { name, flags, valued, operands: 0, assigns: false }
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
        ..launcher("sudo", &["-n", "-E", "-H", "-k", "-S", "-b"], &["-u", "-g", "-h", "-p", "-C", "-D", "-T"])
    },
    Launcher { assigns: true, ..launcher("doas", &["-n"], &["-u"]) },
    launcher("strace", &["-f", "-ff", "-c", "-t", "-tt", "-r", "-T", "-q", "-y"], &["-o", "-e", "-p", "-s", "-P"]),
    Launcher { operands: 1, ..launcher("chroot", &[], &["--userspec", "--groups"]) },
    Launcher { operands: 1, ..launcher("taskset", &["-c", "-a"], &[]) },
    launcher("busybox", &[], &[]),
    launcher(
        "xargs",
        &["-0", "-r", "-t", "-p", "-x", "--null", "--no-run-if-empty"],
        &["-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--delimiter", "--replace"],
    ),
];

/// Programs that run commands in ways that are not read here.
const OPAQUE_PROGRAMS: [&str; 7] = ["parallel", "watch", "script", "su", "nsenter", "unshare", "flock"];

impl Walker {
    /// Notes what a command of these words runs. A launcher replaces the placeholder, if there is one.
    pub(super) fn launch(&mut self, words: &[Argument], placeholder: Option<&str>) {
        let words: Vec<Argument> = match placeholder {
            Some(placeholder) => words.iter().map(|word| word.replacing(placeholder)).collect(),
            None => words.to_vec(),
        };
        let Some((word, arguments)) = words.split_first() else { return };
        let Some(name) = &word.text else {
            return self.doubt(format!("the name of a program comes from `{}`", short(&word.raw)));
        };
        if name.is_empty()
            || name == "!"
            || name.contains(|character: char| character.is_whitespace() || character.is_control())
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
                "-o" | "+o" | "-O" | "+O" => {
                    arguments.next();
                }
                _ if text.starts_with("--") => {
                    return self.doubt(format!("what `{}` of {base} means", short(text)));
                }
                _ if text.starts_with(['-', '+']) => {
                    reads_text |= text.contains('c');
                    reads_stdin |= text.contains('s');
                }
                _ => break Some(argument),
            }
        };
        match operand {
            Some(Argument { text: Some(text), .. }) if reads_text => self.text(text),
            Some(Argument { text: Some(_), .. }) if !reads_stdin => {}
            Some(Argument { raw, text: None }) => {
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
        let (mut index, mut operands, mut placeholder) = (0, launcher.operands, None);
        while let Some(argument) = arguments.get(index) {
            let Some(text) = argument.text.as_deref() else {
                return self.doubt(format!("what {name} runs comes from `{}`", short(&argument.raw)));
            };
            index += 1;
            match text {
                "--" if operands == 0 => break,
                "--" => {}
                // `command -v` only says what a name means.
                "-v" | "-V" if name == "command" => return,
                _ if launcher.assigns && is_assignment(text) => {
                    self.assign(text.split('=').next().unwrap_or_default());
                }
                _ if text.starts_with('-') && text.len() > 1 => match option(launcher, text) {
                    Some(LaunchOption::Flag) => {}
                    Some(LaunchOption::Value(value)) => {
                        let value = match value {
                            Some(value) => Some(value.to_owned()),
                            None => {
                                index += 1;
                                arguments.get(index - 1).and_then(|argument| argument.text.clone())
                            }
                        };
                        if name == "xargs" && (text.starts_with("-I") || text.starts_with("--replace")) {
                            placeholder = Some(value.unwrap_or_else(|| "{}".to_owned()));
                        }
                    }
                    None => return self.doubt(format!("what `{}` of {name} means", short(text))),
                },
                _ if operands > 0 => operands -= 1,
                _ => {
                    index -= 1;
                    break;
                }
            }
        }
        let rest = arguments.get(index..).unwrap_or_default();
        if name == "xargs" && placeholder.is_none() && rest.first().is_some_and(is_shell) && rest.len() < 3 {
            // Without a text of its own, the shell gets one from the input.
            self.doubt("xargs passes its input to a shell");
        }
        self.launch(rest, placeholder.as_deref());
    }

    fn find(&mut self, arguments: &[Argument]) {
        let mut index = 0;
        while let Some(argument) = arguments.get(index) {
            index += 1;
            let is_action = |text: &str| matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
            if argument.text.as_deref().is_some_and(is_action) {
                let rest = &arguments[index..];
                let is_end = |argument: &Argument| matches!(argument.text.as_deref(), Some(";" | "+"));
                let length = rest.iter().position(is_end).unwrap_or(rest.len());
                self.launch(&rest[..length], Some("{}"));
                index += length;
            }
        }
    }
}

/// An option of a launcher.
enum LaunchOption<'a> {
    Flag,
    /// With its value, if it is in the same word.
    Value(Option<&'a str>),
}

fn option<'a>(launcher: &Launcher, text: &'a str) -> Option<LaunchOption<'a>> {
    if launcher.flags.contains(&text) {
        return Some(LaunchOption::Flag);
    }
    if launcher.valued.contains(&text) {
        return Some(LaunchOption::Value(None));
    }
    if let Some((name, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
        return launcher.valued.contains(&name).then_some(LaunchOption::Value(Some(value)));
    }
    if launcher.name == "nice" && text[1..].bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(LaunchOption::Flag);
    }
    // A cluster of short options, of which the last may have a value: `-rn1`.
    let mut letters = text.get(1..).unwrap_or_default().chars();
    while let Some(letter) = letters.next() {
        let short = format!("-{letter}");
        if launcher.valued.contains(&short.as_str()) {
            let value = letters.as_str();
            return Some(LaunchOption::Value((!value.is_empty()).then_some(value)));
        }
        if !launcher.flags.contains(&short.as_str()) {
            return None;
        }
    }
    Some(LaunchOption::Flag)
}

fn is_assignment(text: &str) -> bool {
    let is_name = |name: &str| {
        let rest = name.trim_start_matches(|character: char| character == '_' || character.is_ascii_alphanumeric());
        !name.is_empty() && rest.is_empty() && !name.starts_with(|character: char| character.is_ascii_digit())
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_shell(argument: &Argument) -> bool {
    let base = argument.text.as_deref().and_then(|text| text.rsplit('/').next());
    base.is_some_and(|base| SHELLS.contains(&base))
}
