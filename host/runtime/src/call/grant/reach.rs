//! What a tool can reach under the policy: the upper bound for all of its calls.

/// What the handles of a tool's calls let it do, independent of what its author claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether it can change something: a directory, a store, something on the network, or through a service.
    pub writes: bool,
    /// Whether it can reach anything except this machine's files and the host's own stores.
    pub leaves: bool,
}

impl Reach {
    /// Returns what either of the two reaches.
    pub(super) fn union(self, other: Self) -> Self {
        Self { writes: self.writes || other.writes, leaves: self.leaves || other.leaves }
    }
}
