//! What bindings with limits have in common: how a limit is set, and which limits are shown.

use crate::amount::{AmountError, Unit};

/// One of the limits of a binding.
pub(crate) trait BindingLimit: Copy + 'static {
    /// Every limit, in the order of the fields.
    const ALL: &'static [Self];

    /// Returns the key in a policy.
    fn key(self) -> &'static str;

    /// Returns the unit of its amounts.
    fn unit(self) -> Unit;

    /// Returns the amount if a policy sets none.
    fn default(self) -> usize;

    /// Returns the highest amount that a policy can set.
    fn ceiling(self) -> usize;
}

/// A binding, or a part of one, that has limits.
pub(crate) trait Limited {
    /// Its limits.
    type Limit: BindingLimit;

    /// Returns the amount of a limit.
    fn get(&self, limit: Self::Limit) -> u64;

    /// Stores an amount that the limit admits.
    fn store(&mut self, limit: Self::Limit, admitted: usize);

    /// Sets `limit` to an amount in its unit. Zero and amounts above the ceiling are errors.
    fn set(&mut self, limit: Self::Limit, amount: u64) -> Result<(), AmountError> {
        self.store(limit, limit.unit().admit(amount, limit.ceiling())?);
        Ok(())
    }

    /// Returns the limits that differ from their defaults, as a policy spells them.
    fn changed(&self) -> impl Iterator<Item = String> {
        let shown = |limit: &Self::Limit| limit.unit().show_changed(limit.key(), self.get(*limit), limit.default());
        Self::Limit::ALL.iter().filter_map(shown)
    }
}
