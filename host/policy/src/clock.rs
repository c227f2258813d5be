//! The resolution of a plugin's clocks.

/// The resolution of a plugin's clocks. A greater value is finer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ClockResolution {
    /// One millisecond: too coarse to measure the effects of another call on the processor.
    #[default]
    Coarse,
    /// The resolution of the system.
    Fine,
}

impl ClockResolution {
    /// Both values, the coarser one first.
    pub(crate) const ALL: [Self; 2] = [Self::Coarse, Self::Fine];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Fine => "fine",
        }
    }
}
