//! Why a program could not be started.

use std::io;

/// Why a program could not be started, or why its end is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// This machine offers no confinement.
    #[error("this machine cannot confine programs: {0}")]
    NoTier(String),
    /// The caller requires namespaces, and the machine gives less.
    #[error("the policy requires namespaces, and this machine does not allow them: {0}")]
    NamespacesRequired(String),
    /// The confinement could not be set up, or the program could not be executed.
    #[error("the program was not started: {0}")]
    Refused(String),
    /// The broker could not be started, or has ended.
    #[error("the process that starts programs cannot be used")]
    Broker(#[source] io::Error),
    /// This process cannot give up rights.
    #[error("this process cannot confine itself")]
    OwnProcess(#[source] io::Error),
    /// The program file cannot be opened, or was replaced.
    #[error("the program {path} cannot be used")]
    Program {
        /// Its path.
        path: String,
        /// The reason.
        #[source]
        source: io::Error,
    },
}
