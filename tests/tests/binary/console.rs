//! The program at a real terminal, which `script` of util-linux provides, and a person who types.

use crate::binary::desk::Desk;
use portcullis_tests::{program, user_cache};
use serde_json::Value;
use std::env;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The end of the prompt.
pub(crate) const PROMPT: &str = "? [y/s/a/n/?] ";

/// Asks about everything.
pub(crate) const ASK: &str = "[plugin.files]\ndirectory.workspace = { path = \"work\", access = \"read-write\" }\n\
    [[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\nreason = \"a person looks\"\n";

/// Runs the program without colours and without cursor control, so that the program itself writes no escape sequence.
pub(crate) struct Session {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    seen: String,
}

impl Session {
    /// Starts a call.
    pub(crate) fn of(desk: &Desk, tool: &str, arguments: &Value) -> Self {
        Self::running(desk, &["call", tool, &arguments.to_string().replace('\'', "\\u0027")])
    }

    /// Starts any command.
    pub(crate) fn running(desk: &Desk, arguments: &[&str]) -> Self {
        let mut line = program().display().to_string();
        for argument in arguments {
            assert!(!argument.contains('\''), "the argument contains a shell quote");
            line += &format!(" '{argument}'");
        }
        Self::shell(desk, &line)
    }

    /// Starts a call in a terminal of this many columns that delivers single keys.
    pub(crate) fn with_keys(desk: &Desk, columns: u32, tool: &str, arguments: &Value) -> Self {
        let arguments = arguments.to_string().replace('\'', "\\u0027");
        Self::wide(desk, columns, &format!("{} call '{tool}' '{arguments}'", program().display()))
    }

    /// Starts a shell command line in a terminal of this many columns that delivers single keys. When it ends, it says
    /// whether the terminal is as before.
    pub(crate) fn wide(desk: &Desk, columns: u32, line: &str) -> Self {
        let line = format!(
            "trap : INT; stty cols {columns} rows 24; before=$(stty -g); {line}; code=$?; \
             [ \"$before\" = \"$(stty -g)\" ] && echo restored; exit $code"
        );
        Self::start(desk, &line, "xterm")
    }

    /// Starts a shell command line.
    pub(crate) fn shell(desk: &Desk, line: &str) -> Self {
        Self::start(desk, line, "dumb")
    }

    fn start(desk: &Desk, line: &str, term: &str) -> Self {
        Self::shell_in(line, |command| {
            command.current_dir(desk.site.path("")).env("TERM", term).env("HOME", desk.site.path("home"));
            command.env("PORTCULLIS_STATE", desk.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
            command.env("XDG_CACHE_HOME", user_cache());
        })
    }

    /// Starts a shell command line with these settings, in an otherwise empty environment.
    pub(crate) fn shell_in(line: &str, set: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("TERM", "dumb").env("NO_COLOR", "1");
        set(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("util-linux has `script`");
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, screen, seen: String::new() }
    }

    /// Reads the screen up to the prompt for a call. Returns the text before it.
    pub(crate) fn question(&mut self) -> String {
        self.until(PROMPT)
    }

    /// Reads the screen up to these words.
    pub(crate) fn until(&mut self, words: &str) -> String {
        let (mut bytes, mut byte) = (Vec::new(), [0]);
        while !bytes.ends_with(words.as_bytes()) {
            let read = self.screen.read(&mut byte).unwrap();
            assert_eq!(read, 1, "no {words:?}: {}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Asserts the exit code. Returns the output after the prompt.
    pub(crate) fn ends(mut self, code: i32) -> String {
        self.screen.read_to_string(&mut self.seen).unwrap();
        drop(self.keys);
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.seen);
        self.seen.replace("\r\n", "\n")
    }
}
