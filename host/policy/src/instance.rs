//! How long an instance of a plugin lives.

/// How long an instance of a plugin lives. A greater value keeps more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum InstanceLifetime {
    /// One call. Each call runs in a fresh sandbox.
    #[default]
    Call,
    /// The calls of one principal in one session, until a trap, a limit, a change of the policy or the idle time.
    Session,
}

impl InstanceLifetime {
    /// Both values, the shorter one first.
    pub(crate) const ALL: [Self; 2] = [Self::Call, Self::Session];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Session => "session",
        }
    }
}
