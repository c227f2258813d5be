//! Calls of a plugin that are normally refused, but may run with approval.

/// Whether arguments that do not match a tool's schema are permitted. A greater value permits more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Leniency {
    /// The call is refused.
    #[default]
    Refuse,
    /// Every such call needs approval.
    Ask,
}

impl Leniency {
    /// Both values, the stricter one first. No value allows a call without approval.
    pub(crate) const ALL: [Self; 2] = [Self::Refuse, Self::Ask];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Ask => "ask",
        }
    }
}
