//! The four answers that a new policy is made from.

use crate::arguments::{InitArguments, InitDecision, WebDecision};

/// What is hidden by default: secrets and keys. A pattern without a slash matches in every directory.
pub(super) const HIDDEN: [&str; 9] =
    [".env*", "secrets/**", "*.pem", "*.key", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "**/.git/config"];

/// The four answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) read: InitDecision,
    pub(super) write: InitDecision,
    pub(super) hidden: Vec<String>,
    pub(super) web: WebDecision,
}

impl Answers {
    /// Returns the answers of the command line, and the defaults for the others.
    pub(super) fn of_arguments(arguments: &InitArguments) -> Self {
        let hidden = match arguments.hide.as_slice() {
            [] => HIDDEN.map(str::to_owned).to_vec(),
            patterns => patterns.to_vec(),
        };
        Self {
            read: arguments.read.unwrap_or(InitDecision::Allow),
            write: arguments.write.unwrap_or(InitDecision::Ask),
            hidden,
            web: arguments.web.unwrap_or(WebDecision::Ask),
        }
    }
}
