//! How fine the clocks of a plugin are.

/// How fine the clocks of a plugin are. A greater one is finer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ClockResolution {
    /// One millisecond: too coarse to measure what another call does to the processor.
    #[default]
    Coarse,
    /// What the system has.
    Fine,
}

impl ClockResolution {
    /// Both, the coarser one first.
    pub(crate) const ALL: [Self; 2] = [Self::Coarse, Self::Fine];

    /// The word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Fine => "fine",
        }
    }
}
