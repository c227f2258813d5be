//! The three standard streams. No other file writes to them.
//!
//! The messages of a server go through a queue to standard error, so that no call waits for the reader.

use crate::arguments::LogFormat;
use crate::environment::{Capabilities, Colour};
use crate::message_queue::MessageQueue;
use crate::style::Style;
use crate::wrap::{HELP_COLUMNS_MAX, wrapped};
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Duration;

/// How long the end of the process waits for the reader of standard error.
const END_WAIT: Duration = Duration::from_secs(1);

/// The queue of a server.
static MESSAGES: OnceLock<MessageQueue> = OnceLock::new();

/// The standard streams, and whether each is a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    capabilities: Capabilities,
    log_format: LogFormat,
}

impl Terminal {
    /// Checks which streams are terminals.
    pub(crate) fn open(capabilities: Capabilities) -> Self {
        let (stdin, stdout) = (io::stdin().is_terminal(), io::stdout().is_terminal());
        Self { stdin, stdout, stderr: io::stderr().is_terminal(), capabilities, log_format: LogFormat::Text }
    }

    /// Writes lines to stderr in this format.
    pub(crate) fn in_format(self, log_format: LogFormat) -> Self {
        Self { log_format, ..self }
    }

    /// Returns the format of the lines on stderr.
    pub(crate) fn log_format(self) -> LogFormat {
        self.log_format
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

    /// Writes text for people to stdout, broken at the width of the terminal. Errors are those of [`Self::print`].
    ///
    /// # Errors
    /// The text cannot be written.
    pub(crate) fn show(self, text: &str) -> io::Result<()> {
        self.print(&wrapped(text, self.width()))
    }

    /// Writes a help text to stdout, broken at the width of the terminal, or at the maximum width of the help.
    pub(crate) fn show_help(self, text: &str) -> io::Result<()> {
        self.print(&wrapped(text, self.width().map(|width| width.min(HELP_COLUMNS_MAX))))
    }

    /// Writes a line to stderr, broken at the width of the terminal. Ignores errors, because there is nowhere to report
    /// them. In the JSON format, it is an event of the log, whose level follows from its label.
    pub(crate) fn note(self, text: impl Display) {
        match self.log_format {
            LogFormat::Text => self.say(&wrapped(&format!("{text}\n"), self.note_width())),
            LogFormat::Json => match text.to_string() {
                error if error.starts_with("error:") => tracing::error!(target: "portcullis::note", "{error}"),
                warning if warning.starts_with("warning:") => tracing::warn!(target: "portcullis::note", "{warning}"),
                note => tracing::info!(target: "portcullis::note", "{note}"),
            },
        }
    }

    /// Writes to stderr without a line break at the end. If messages go through the queue, it does not wait.
    pub(crate) fn say(self, text: &str) {
        if let Some(messages) = MESSAGES.get() {
            return messages.push(text);
        }
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Lets everything that goes to stderr through a queue from now on. `about` says how many messages were left out.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(crate) fn queue_messages(self, about: impl Fn(u64) -> String + Send + 'static) -> io::Result<()> {
        // Only a server calls this, once.
        let _ = MESSAGES.set(MessageQueue::start(io::stderr(), about)?);
        Ok(())
    }

    /// Waits for the reader of the queue, if there is one, but not for long.
    pub(crate) fn end(self) {
        if let Some(messages) = MESSAGES.get() {
            messages.flush(END_WAIT);
        }
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
        self.stderr && self.capabilities.cursor && self.log_format == LogFormat::Text
    }

    /// Returns whether a person sees whole screens on stdout, and types below them.
    pub(crate) fn draws_screens(self) -> bool {
        self.stdin && self.stdout && self.capabilities.cursor
    }

    /// Returns whether a user can be prompted.
    pub(crate) fn can_ask(self) -> bool {
        // With one of them redirected, a person may not see the prompt, or may not be there at all.
        self.stdin && self.stderr
    }

    /// Returns whether stdin is a terminal.
    pub(crate) fn types_input(self) -> bool {
        self.stdin
    }

    /// Returns the style of stdout.
    pub(crate) fn style(self) -> Style {
        style(self.capabilities.colour, self.stdout)
    }

    /// Returns the style of stderr.
    pub(crate) fn note_style(self) -> Style {
        match self.log_format {
            LogFormat::Text => style(self.capabilities.colour, self.stderr),
            LogFormat::Json => Style::Plain,
        }
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

fn style(colour: Colour, is_terminal: bool) -> Style {
    match colour {
        Colour::Always => Style::Coloured,
        Colour::OnTerminals if is_terminal => Style::Coloured,
        Colour::OnTerminals | Colour::Never => Style::Plain,
    }
}

fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    // A terminal that does not know its size reports 0.
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

fn height(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_row > 0).then_some(usize::from(size.ws_row))
}
