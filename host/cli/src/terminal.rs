//! The three standard streams. The one file that writes to them.

use crate::environment::Capabilities;
use crate::exit_code::Exit;
use crate::style::Style;
use portcullis::text::Lines;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// What the streams are connected to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    capabilities: Capabilities,
}

impl Terminal {
    /// Looks at the streams.
    pub(crate) fn open(capabilities: Capabilities) -> Self {
        let (stdin, stdout) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        Self { stdin, stdout, stderr: io::stderr().is_terminal(), capabilities }
    }

    /// Writes a result. Whoever reads it may stop reading: that is no error, and there is nobody to tell.
    ///
    /// # Errors
    /// It cannot be written, as on a full disk.
    pub(crate) fn print(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Writes a line for the person. When even that fails, nobody can be told.
    pub(crate) fn note(self, text: impl Display) {
        self.say(&format!("{text}\n"));
    }

    /// Writes to the person, without ending the line.
    pub(crate) fn say(self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Whether a person reads what is said.
    pub(crate) fn has_reader(self) -> bool {
        self.stderr
    }

    /// Whether a person reads results as they come.
    pub(crate) fn shows_results(self) -> bool {
        self.stdout
    }

    /// Whether a line can be written over as things go on.
    pub(crate) fn can_rewrite(self) -> bool {
        self.stderr && self.capabilities.cursor
    }

    /// Whether somebody is there to be asked.
    pub(crate) fn can_ask(self) -> bool {
        self.stdin && self.stderr
    }

    /// Whether what is typed is read, rather than what another program writes.
    pub(crate) fn types_input(self) -> bool {
        self.stdin
    }

    /// How results look.
    pub(crate) fn style(self) -> Style {
        style(self.stdout && self.capabilities.colour)
    }

    /// How what is said looks.
    pub(crate) fn note_style(self) -> Style {
        style(self.stderr && self.capabilities.colour)
    }

    /// How many columns results may take; any number where they go elsewhere than to a terminal.
    pub(crate) fn width(self) -> Option<usize> {
        if self.stdout { columns(io::stdout()) } else { None }
    }

    /// How many columns what is said may take.
    pub(crate) fn note_width(self) -> Option<usize> {
        if self.stderr { columns(io::stderr()) } else { None }
    }

    /// Returns the rows of the terminal that notes are written to.
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

/// Shows help, the version, or what is wrong with the command line, which may quote what was typed.
pub(crate) fn show_usage(error: &clap::Error) -> ExitCode {
    let text = Lines(&error.render().to_string()).to_string();
    let (written, exit) = match error.use_stderr() {
        true => (io::stderr().write_all(text.as_bytes()), Exit::Usage),
        false => (io::stdout().write_all(text.as_bytes()), Exit::Completed),
    };
    // There is no other stream to say it on.
    drop(written);
    exit.into()
}
