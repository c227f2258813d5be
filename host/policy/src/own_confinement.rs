//! Whether the host's own process gives up the rights that it does not need.
//!
//! This file must not know how it gives them up.

/// The setting `confine` of the section `[host]`. A greater value is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OwnConfinement {
    /// The process keeps all rights of its user.
    Off,
    /// The process gives up what it can.
    #[default]
    Prefer,
    /// The host does not start unless its process can give up everything that it does not need.
    Require,
}

impl OwnConfinement {
    /// Every value, the least strict first.
    pub const ALL: [Self; 3] = [Self::Off, Self::Prefer, Self::Require];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Prefer => "prefer",
            Self::Require => "require",
        }
    }
}
