//! What of a plugin's calls is let pass that is otherwise refused, and then always put to a person.

/// Whether arguments are let pass that are not exactly what a tool asks for. A greater one lets more pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Leniency {
    /// They are refused.
    #[default]
    Refuse,
    /// A person is asked, every time.
    Ask,
}

impl Leniency {
    /// Both, the stricter one first. There is none that allows without asking.
    pub(crate) const ALL: [Self; 2] = [Self::Refuse, Self::Ask];

    /// The word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Ask => "ask",
        }
    }
}
