//! How fine the clocks of a plugin are.

/// How fine the clocks of a plugin are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockResolution {
    /// One millisecond: too coarse to measure what another call does to the processor.
    #[default]
    Coarse,
    /// What the system has.
    Fine,
}
