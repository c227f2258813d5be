//! An error of a command with its code and its remedy.

use crate::failure_code::FailureCode;
use std::error::Error;
use std::fmt::{self, Display};

/// An error with a code that is not that of its cause.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) code: FailureCode,
    /// What to do next.
    pub(crate) help: Option<String>,
    error: anyhow::Error,
}

impl CommandError {
    /// Creates an error from its message: what happened, and why.
    pub(crate) fn new(code: FailureCode, message: impl Display) -> Self {
        Self { code, help: None, error: anyhow::Error::msg(message.to_string()) }
    }

    /// Adds what to do next.
    pub(crate) fn help(mut self, help: impl Display) -> Self {
        self.help = Some(help.to_string());
        self
    }
}

/// Shows the error itself, because the code adds no text.
impl Display for CommandError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(formatter)
    }
}

impl Error for CommandError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // `Display` already shows the first error of the chain.
        self.error.chain().nth(1)
    }
}

/// Adds a code to an error.
pub(crate) trait WithCode<T> {
    /// Adds the code, unless the error has one.
    ///
    /// # Errors
    /// Those of the result.
    fn code(self, code: FailureCode) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> WithCode<T> for Result<T, E> {
    fn code(self, code: FailureCode) -> anyhow::Result<T> {
        self.map_err(|error| {
            let error = error.into();
            if error.is::<CommandError>() { error } else { CommandError { code, help: None, error }.into() }
        })
    }
}
