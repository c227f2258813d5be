//! Each limit as a value: its key in a policy, its unit, and its ceiling.
//!
//! This file must not know the text of a policy. It gets amounts as numbers.

use std::time::Duration;

use crate::amount::{AmountError, Unit};
use crate::limits::{self, Limits};

/// One of the limits in [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::memory_bytes`].
    Memory,
    /// [`Limits::table_elements`].
    TableElements,
    /// [`Limits::core_instances`].
    CoreInstances,
    /// [`Limits::tables`].
    Tables,
    /// [`Limits::memories`].
    Memories,
    /// [`Limits::time`].
    Time,
    /// [`Limits::transfer_bytes`].
    Transfer,
    /// [`Limits::handles`].
    Handles,
    /// [`Limits::resources`].
    Resources,
    /// [`Limits::host_memory_bytes`].
    HostMemory,
    /// [`Limits::random_bytes`].
    Random,
    /// [`Limits::log_bytes`].
    Log,
    /// [`Limits::arguments_bytes`].
    Arguments,
    /// [`Limits::output_bytes`].
    Output,
    /// [`Limits::kept_output_bytes`].
    KeptOutput,
    /// [`Limits::progress_reports`].
    ProgressReports,
    /// [`Limits::directory_entries`].
    DirectoryEntries,
    /// [`Limits::written_bytes`].
    Written,
    /// [`Limits::created_entries`].
    CreatedEntries,
    /// [`Limits::approval_time`].
    ApprovalTime,
    /// [`Limits::idle_time`].
    IdleTime,
}

impl Limit {
    /// Every limit, in the order of the fields of [`Limits`].
    pub const ALL: [Self; 21] = [
        Self::Memory,
        Self::TableElements,
        Self::CoreInstances,
        Self::Tables,
        Self::Memories,
        Self::Time,
        Self::Transfer,
        Self::Handles,
        Self::Resources,
        Self::HostMemory,
        Self::Random,
        Self::Log,
        Self::Arguments,
        Self::Output,
        Self::KeptOutput,
        Self::ProgressReports,
        Self::DirectoryEntries,
        Self::Written,
        Self::CreatedEntries,
        Self::ApprovalTime,
        Self::IdleTime,
    ];

    /// Returns the key under `[limits]` in a policy.
    pub fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::TableElements => "table-elements",
            Self::CoreInstances => "core-instances",
            Self::Tables => "tables",
            Self::Memories => "memories",
            Self::Time => "time",
            Self::Transfer => "transfer",
            Self::Handles => "handles",
            Self::Resources => "resources",
            Self::HostMemory => "host-memory",
            Self::Random => "random",
            Self::Log => "log",
            Self::Arguments => "arguments",
            Self::Output => "output",
            Self::KeptOutput => "kept-output",
            Self::ProgressReports => "progress-reports",
            Self::DirectoryEntries => "directory-entries",
            Self::Written => "written",
            Self::CreatedEntries => "created-entries",
            Self::ApprovalTime => "approval-time",
            Self::IdleTime => "idle-time",
        }
    }

    /// Returns the unit of the limit's amounts.
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Memory
            | Self::Transfer
            | Self::HostMemory
            | Self::Random
            | Self::Log
            | Self::Arguments
            | Self::Output
            | Self::KeptOutput
            | Self::Written => Unit::Bytes,
            Self::TableElements
            | Self::CoreInstances
            | Self::Tables
            | Self::Memories
            | Self::Handles
            | Self::Resources
            | Self::ProgressReports
            | Self::DirectoryEntries
            | Self::CreatedEntries => Unit::Count,
            Self::Time | Self::ApprovalTime | Self::IdleTime => Unit::Milliseconds,
        }
    }

    /// Returns the highest amount that a policy may set, in the limit's unit.
    fn ceiling(self) -> usize {
        match self {
            Self::Memory => limits::MEMORY_CEILING_BYTES,
            Self::TableElements => limits::TABLE_CEILING_ELEMENTS,
            Self::CoreInstances => limits::CEILING_CORE_INSTANCES,
            Self::Tables => limits::CEILING_TABLES,
            Self::Memories => limits::CEILING_MEMORIES,
            Self::Time => limits::TIME_CEILING_MILLISECONDS,
            Self::Transfer => limits::TRANSFER_CEILING_BYTES,
            Self::Handles => limits::CEILING_HANDLES,
            Self::Resources => limits::CEILING_RESOURCES,
            Self::HostMemory => limits::HOST_MEMORY_CEILING_BYTES,
            Self::Random => limits::RANDOM_CEILING_BYTES,
            Self::Log => limits::LOG_CEILING_BYTES,
            Self::Arguments => limits::ARGUMENTS_CEILING_BYTES,
            Self::Output => limits::OUTPUT_CEILING_BYTES,
            Self::KeptOutput => limits::KEPT_OUTPUT_CEILING_BYTES,
            Self::ProgressReports => limits::CEILING_PROGRESS_REPORTS,
            Self::DirectoryEntries => limits::CEILING_DIRECTORY_ENTRIES,
            Self::Written => limits::WRITTEN_CEILING_BYTES,
            Self::CreatedEntries => limits::CEILING_CREATED_ENTRIES,
            Self::ApprovalTime => limits::APPROVAL_TIME_CEILING_MILLISECONDS,
            Self::IdleTime => limits::IDLE_TIME_CEILING_MILLISECONDS,
        }
    }

    /// Checks that `amount` is above zero and not above the ceiling, and converts it.
    pub(crate) fn admit(self, amount: u64) -> Result<usize, AmountError> {
        self.unit().admit(amount, self.ceiling())
    }
}

impl Limits {
    /// Sets `limit` to `amount`, in the limit's unit: bytes, a count, or milliseconds.
    ///
    /// # Errors
    ///
    /// The amount is zero or above the ceiling. Then nothing changes.
    pub fn set(&mut self, limit: Limit, amount: u64) -> Result<(), AmountError> {
        self.store(limit, limit.admit(amount)?);
        Ok(())
    }

    /// Returns the amount of `limit`, in its unit.
    pub fn get(&self, limit: Limit) -> usize {
        let milliseconds = |time: Duration| usize::try_from(time.as_millis()).unwrap_or(usize::MAX);
        match limit {
            Limit::Memory => self.memory_bytes,
            Limit::TableElements => self.table_elements,
            Limit::CoreInstances => self.core_instances,
            Limit::Tables => self.tables,
            Limit::Memories => self.memories,
            Limit::Time => milliseconds(self.time),
            Limit::Transfer => self.transfer_bytes,
            Limit::Handles => self.handles,
            Limit::Resources => self.resources,
            Limit::HostMemory => self.host_memory_bytes,
            Limit::Random => self.random_bytes,
            Limit::Log => self.log_bytes,
            Limit::Arguments => self.arguments_bytes,
            Limit::Output => self.output_bytes,
            Limit::KeptOutput => self.kept_output_bytes,
            Limit::ProgressReports => self.progress_reports,
            Limit::DirectoryEntries => self.directory_entries,
            Limit::Written => self.written_bytes,
            Limit::CreatedEntries => self.created_entries,
            Limit::ApprovalTime => milliseconds(self.approval_time),
            Limit::IdleTime => milliseconds(self.idle_time),
        }
    }

    fn store(&mut self, limit: Limit, admitted: usize) {
        match limit {
            Limit::Memory => self.memory_bytes = admitted,
            Limit::TableElements => self.table_elements = admitted,
            Limit::CoreInstances => self.core_instances = admitted,
            Limit::Tables => self.tables = admitted,
            Limit::Memories => self.memories = admitted,
            Limit::Time => self.time = limits::milliseconds(admitted),
            Limit::Transfer => self.transfer_bytes = admitted,
            Limit::Handles => self.handles = admitted,
            Limit::Resources => self.resources = admitted,
            Limit::HostMemory => self.host_memory_bytes = admitted,
            Limit::Random => self.random_bytes = admitted,
            Limit::Log => self.log_bytes = admitted,
            Limit::Arguments => self.arguments_bytes = admitted,
            Limit::Output => self.output_bytes = admitted,
            Limit::KeptOutput => self.kept_output_bytes = admitted,
            Limit::ProgressReports => self.progress_reports = admitted,
            Limit::DirectoryEntries => self.directory_entries = admitted,
            Limit::Written => self.written_bytes = admitted,
            Limit::CreatedEntries => self.created_entries = admitted,
            Limit::ApprovalTime => self.approval_time = limits::milliseconds(admitted),
            Limit::IdleTime => self.idle_time = limits::milliseconds(admitted),
        }
    }

    /// Applies the settings of a trusted text.
    pub(crate) fn apply(&mut self, settings: &LimitSettings) {
        for (limit, admitted) in &settings.0 {
            self.store(*limit, *admitted);
        }
    }

    /// Applies the settings of an untrusted text that are lower.
    pub(crate) fn lower(&mut self, settings: &LimitSettings) {
        for (limit, admitted) in &settings.0 {
            self.store(*limit, self.get(*limit).min(*admitted));
        }
    }
}

/// The limits that one section of a policy text sets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LimitSettings(Vec<(Limit, usize)>);

impl LimitSettings {
    /// Adds a limit that a text sets.
    pub(crate) fn add(&mut self, limit: Limit, amount: u64) -> Result<(), AmountError> {
        self.0.push((limit, limit.admit(amount)?));
        Ok(())
    }

    /// Returns these settings, overridden by `specific`.
    pub(crate) fn overridden(&self, specific: &Self) -> Self {
        let set = |limit: Limit| specific.0.iter().any(|(other, _)| *other == limit);
        let kept = self.0.iter().filter(|(limit, _)| !set(*limit)).copied();
        Self(kept.chain(specific.0.iter().copied()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_can_be_set_to_one_and_to_its_ceiling_and_no_further() {
        for limit in Limit::ALL {
            let ceiling = u64::try_from(limit.ceiling()).unwrap();
            let mut limits = Limits::default();
            limits.set(limit, 1).unwrap();
            assert_ne!(limits, Limits::default(), "{} is not stored", limit.key());
            assert_eq!(limits.get(limit), 1, "{}", limit.key());
            limits.set(limit, ceiling).unwrap();
            assert_eq!(limits.get(limit), limit.ceiling(), "{}", limit.key());
            let highest = limits;
            for amount in [ceiling + 1, u64::MAX] {
                assert!(matches!(limits.set(limit, amount), Err(AmountError::AboveCeiling { .. })), "{limit:?}");
            }
            assert_eq!(limits.set(limit, 0), Err(AmountError::Zero), "{limit:?}");
            assert_eq!(limits, highest, "a refused amount changes nothing");
        }
    }

    #[test]
    fn no_two_limits_have_the_same_key() {
        let keys: std::collections::BTreeSet<_> = Limit::ALL.into_iter().map(Limit::key).collect();
        assert_eq!(keys.len(), Limit::ALL.len());
    }

    #[test]
    fn every_default_is_below_its_ceiling() {
        let defaults = Limits::default();
        for limit in Limit::ALL {
            let mut highest = defaults;
            highest.set(limit, u64::try_from(limit.ceiling()).unwrap()).unwrap();
            assert_ne!(highest, defaults, "{limit:?}");
        }
        assert_eq!(defaults.memory_bytes, 67_108_864);
        assert_eq!(defaults.time, Duration::from_secs(30));
        assert_eq!(defaults.approval_time, Duration::from_secs(300));
    }
}
