//! The agent at a real terminal, which `script` of util-linux provides, and a person who types.

use crate::agent::desk::{Desk, agent, bounded, harmless};
use crate::agent::model::Model;
use std::env;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// The end of the prompt.
pub(crate) const PROMPT: &str = "? [y, n, or what to do instead] ";

/// The agent's message after a line that does not answer a prompt.
pub(crate) const HEARD: &str = "The model reads this next.";

/// An agent at a terminal. The agent itself writes no escape sequence.
pub(crate) struct Session {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
}

impl Session {
    pub(crate) fn of(desk: &Desk, model: &Model, task: &str) -> Self {
        let arguments = desk.arguments().into_iter().chain([task.to_owned()]);
        let mut line = agent().display().to_string();
        for argument in arguments {
            assert!(!argument.contains('\''), "the argument contains a shell quote");
            line += &format!(" '{argument}'");
        }
        let mut command = bounded();
        command.args(["script", "-qec", &line, "/dev/null"]).current_dir(desk.site.path("")).env_clear();
        command.env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "dumb").env("HOME", desk.site.path("home"));
        command.env("OPENAI_BASE_URL", model.url()).env("OPENAI_MODEL", "scripted");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("util-linux has `script`");
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, screen }
    }

    /// Reads the screen up to the next prompt. Returns the text before it.
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
        let seen = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
        harmless(&seen);
        seen
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Asserts the agent's exit code. Returns its output after the last words that were read.
    pub(crate) fn ends(mut self, code: i32) -> String {
        let mut seen = String::new();
        self.screen.read_to_string(&mut seen).unwrap();
        drop(self.keys);
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{seen}");
        seen.replace("\r\n", "\n")
    }
}
