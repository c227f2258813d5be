//! The places of the host that a binding leads to.

/// What is at the place that a grant leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantPlaceKind {
    /// A directory that a plugin gets.
    Directory,
    /// A file that the host reads a secret from.
    Secret,
    /// A program that the host starts to read a secret.
    Program,
    /// A file with the certificates to trust.
    Roots,
    /// A program that a plugin may run. It is read and executed, and never written.
    ConfinedProgram,
}

impl GrantPlaceKind {
    /// Returns the word for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Secret => "secret file",
            Self::Program => "secret program",
            Self::Roots => "certificates",
            Self::ConfinedProgram => "program",
        }
    }
}
