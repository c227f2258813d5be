//! The three standard streams. No other file writes to them.

use crate::environment::Capabilities;
use crate::exit_code::Exit;
use crate::style::Style;
use portcullis::text::Lines;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// The standard streams, and whether each is a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    capabilities: Capabilities,
}

impl Terminal {
    /// Checks which streams are terminals.
    pub(crate) fn open(capabilities: Capabilities) -> Self {
        let (stdin, stdout) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        Self { stdin, stdout, stderr: io::stderr().is_terminal(), capabilities }
    }

    /// Writes a result to stdout. A closed pipe is not an error: the reader has stopped reading.
    ///
    /// # Errors
    /// The result cannot be written, for example because the disk is full.
    pub(crate) fn print(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Writes a line to stderr. Ignores errors, because there is nowhere to report them.
    pub(crate) fn note(self, text: impl Display) {
        self.say(&format!("{text}\n"));
    }

    /// Writes to stderr without a line break at the end.
    pub(crate) fn say(self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Returns whether stderr is a terminal.
    pub(crate) fn has_reader(self) -> bool {
        self.stderr
    }

    /// Returns whether stdout is a terminal.
    pub(crate) fn shows_results(self) -> bool {
        self.stdout
    }

    /// Returns whether a line on stderr can be overwritten.
    pub(crate) fn can_rewrite(self) -> bool {
        self.stderr && self.capabilities.cursor
    }

    /// Returns whether a person sees whole screens on stdout, and types below them.
    pub(crate) fn draws_screens(self) -> bool {
        self.stdin && self.stdout && self.capabilities.cursor
    }

    /// Returns whether a user can be prompted.
    pub(crate) fn can_ask(self) -> bool {
        self.stdin && self.stderr
    }

    /// Returns whether stdin is a terminal.
    pub(crate) fn types_input(self) -> bool {
        self.stdin
    }

    /// Returns the style of stdout.
    pub(crate) fn style(self) -> Style {
        style(self.stdout && self.capabilities.colour)
    }

    /// Returns the style of stderr.
    pub(crate) fn note_style(self) -> Style {
        style(self.stderr && self.capabilities.colour)
    }

    /// Returns the columns of stdout, or `None` if it is not a terminal.
    pub(crate) fn width(self) -> Option<usize> {
        if self.stdout { columns(io::stdout()) } else { None }
    }

    /// Returns the rows of stdout, or `None` if it is not a terminal.
    pub(crate) fn height(self) -> Option<usize> {
        if self.stdout { height(io::stdout()) } else { None }
    }

    /// Returns the columns of stderr, or `None` if it is not a terminal.
    pub(crate) fn note_width(self) -> Option<usize> {
        if self.stderr { columns(io::stderr()) } else { None }
    }

    /// Returns the rows of stderr, or `None` if it is not a terminal.
    pub(crate) fn note_height(self) -> Option<usize> {
        if self.stderr { height(io::stderr()) } else { None }
    }
}

fn style(coloured: bool) -> Style {
    if coloured { Style::Coloured } else { Style::Plain }
}

fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

fn height(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_row > 0).then_some(usize::from(size.ws_row))
}

/// Shows help, the version, or an error of the command line. Encodes the text, because it may quote the arguments.
pub(crate) fn show_usage(error: &clap::Error) -> ExitCode {
    let text = Lines(&error.render().to_string()).to_string();
    let (written, exit) = match error.use_stderr() {
        true => (io::stderr().write_all(text.as_bytes()), Exit::Usage),
        false => (io::stdout().write_all(text.as_bytes()), Exit::Completed),
    };
    // A write error cannot be reported on any other stream.
    drop(written);
    exit.into()
}
