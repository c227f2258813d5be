//! The limits of a program: defaults and ceilings, each with its reason.
//!
//! This file must not know how a limit is enforced.

use std::time::Duration;

use super::limited::{BindingLimit, Limited};
use crate::amount::Unit;
use crate::limits::milliseconds;

const MIB: usize = 1024 * 1024;
const GIB: usize = 1024 * MIB;
const MINUTE_MILLISECONDS: usize = 60 * 1000;
const HOUR_MILLISECONDS: usize = 60 * MINUTE_MILLISECONDS;

/// Wall-clock time of one run: the build or the tests of a small project.
const TIME_MILLISECONDS: usize = 2 * MINUTE_MILLISECONDS;
/// The ceiling of the time of a call, which a run cannot outlive.
const TIME_CEILING_MILLISECONDS: usize = HOUR_MILLISECONDS;
/// CPU time of all processes of one run: one processor that is busy for the whole default time.
const CPU_TIME_MILLISECONDS: usize = 2 * MINUTE_MILLISECONDS;
/// Four processors that are busy for an hour.
const CPU_TIME_CEILING_MILLISECONDS: usize = 4 * HOUR_MILLISECONDS;
/// Processes and threads of one run: a parallel build fits, and a fork bomb stops at once.
const PROCESSES: usize = 64;
/// The host has to kill them all, and a common system has 32,768 for everyone.
const PROCESSES_CEILING: usize = 4096;
/// Memory of one run: a compiler fits.
const MEMORY_BYTES: usize = GIB;
/// A run that needs more than a large workstation has needs a machine of its own.
const MEMORY_CEILING_BYTES: usize = 64 * GIB;
/// Open files of one process: the soft limit of common systems, which programs expect.
const OPEN_FILES: usize = 1024;
/// Each costs the kernel memory. Only servers need more.
const OPEN_FILES_CEILING: usize = 65_536;
/// The largest file that a run may write: an archive or a debug build fits, and an endless log does not.
const FILE_BYTES: usize = GIB;
/// The size of a common disk.
const FILE_CEILING_BYTES: usize = 1024 * GIB;
/// The private `/tmp` of one run. It is kept in memory, so the default is a quarter of the memory.
const TEMPORARY_BYTES: usize = 256 * MIB;
/// Several runs at one time with more would use up the memory of a workstation. Larger files belong in a directory.
const TEMPORARY_CEILING_BYTES: usize = 16 * GIB;
/// What one run may print: a long build log fits, and an endless output does not.
const OUTPUT_BYTES: usize = 16 * MIB;
/// The ceiling of the kept output of a call. A larger output should be a file in a directory.
const OUTPUT_CEILING_BYTES: usize = GIB;
/// Runs of one call: a tool that runs a few commands for each of a few files.
const RUNS: usize = 20;
/// A call that starts more is a script, which a single run of a shell does faster.
const RUNS_CEILING: usize = 10_000;

/// The limits of a program. Except for `runs`, each applies to one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Maximum wall-clock time.
    pub time: Duration,
    /// Maximum CPU time of all processes together.
    pub cpu_time: Duration,
    /// Maximum processes and threads at one time.
    pub processes: u32,
    /// Maximum bytes of memory.
    pub memory_bytes: u64,
    /// Maximum open files of one process.
    pub open_files: u32,
    /// Maximum bytes of a file that the program writes.
    pub file_bytes: u64,
    /// Maximum bytes of the private `/tmp`.
    pub temporary_bytes: u64,
    /// Maximum bytes that the program prints.
    pub output_bytes: u64,
    /// Maximum runs of the program in one call.
    pub runs: u32,
}

impl Default for ProcessLimits {
    /// Returns the limits of a program whose policy sets none.
    fn default() -> Self {
        let mut limits = Self {
            time: Duration::ZERO,
            cpu_time: Duration::ZERO,
            processes: 0,
            memory_bytes: 0,
            open_files: 0,
            file_bytes: 0,
            temporary_bytes: 0,
            output_bytes: 0,
            runs: 0,
        };
        // A limit that `ALL` lacks would stay zero: it would refuse everything, and not be unlimited.
        for &limit in ProcessLimit::ALL {
            limits.store(limit, limit.default());
        }
        limits
    }
}

/// One of the limits in [`ProcessLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessLimit {
    Time,
    CpuTime,
    Processes,
    Memory,
    OpenFiles,
    FileBytes,
    TemporaryBytes,
    OutputBytes,
    Runs,
}

impl ProcessLimits {
    /// Returns the time limit if it is the default. An approver needs to read it in any case.
    pub(super) fn default_time(&self) -> Option<String> {
        let time = ProcessLimit::Time;
        let is_default = self.get(time) == time.default() as u64;
        is_default.then(|| format!("{} {}", time.key(), time.unit().show(time.default()).trim_matches('"')))
    }
}

impl BindingLimit for ProcessLimit {
    const ALL: &'static [Self] = &[
        Self::Time,
        Self::CpuTime,
        Self::Processes,
        Self::Memory,
        Self::OpenFiles,
        Self::FileBytes,
        Self::TemporaryBytes,
        Self::OutputBytes,
        Self::Runs,
    ];

    fn key(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::CpuTime => "cpu-time",
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::OpenFiles => "open-files",
            Self::FileBytes => "file-bytes",
            Self::TemporaryBytes => "temporary-bytes",
            Self::OutputBytes => "output-bytes",
            Self::Runs => "runs",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Time | Self::CpuTime => Unit::Milliseconds,
            Self::Processes | Self::OpenFiles | Self::Runs => Unit::Count,
            Self::Memory | Self::FileBytes | Self::TemporaryBytes | Self::OutputBytes => Unit::Bytes,
        }
    }

    fn default(self) -> usize {
        match self {
            Self::Time => TIME_MILLISECONDS,
            Self::CpuTime => CPU_TIME_MILLISECONDS,
            Self::Processes => PROCESSES,
            Self::Memory => MEMORY_BYTES,
            Self::OpenFiles => OPEN_FILES,
            Self::FileBytes => FILE_BYTES,
            Self::TemporaryBytes => TEMPORARY_BYTES,
            Self::OutputBytes => OUTPUT_BYTES,
            Self::Runs => RUNS,
        }
    }

    fn ceiling(self) -> usize {
        match self {
            Self::Time => TIME_CEILING_MILLISECONDS,
            Self::CpuTime => CPU_TIME_CEILING_MILLISECONDS,
            Self::Processes => PROCESSES_CEILING,
            Self::Memory => MEMORY_CEILING_BYTES,
            Self::OpenFiles => OPEN_FILES_CEILING,
            Self::FileBytes => FILE_CEILING_BYTES,
            Self::TemporaryBytes => TEMPORARY_CEILING_BYTES,
            Self::OutputBytes => OUTPUT_CEILING_BYTES,
            Self::Runs => RUNS_CEILING,
        }
    }
}

impl Limited for ProcessLimits {
    type Limit = ProcessLimit;

    fn store(&mut self, limit: ProcessLimit, admitted: usize) {
        // `admit` has checked the ceiling, so a count always fits.
        let count = u32::try_from(admitted).unwrap_or(u32::MAX);
        match limit {
            ProcessLimit::Time => self.time = milliseconds(admitted),
            ProcessLimit::CpuTime => self.cpu_time = milliseconds(admitted),
            ProcessLimit::Processes => self.processes = count,
            ProcessLimit::Memory => self.memory_bytes = admitted as u64,
            ProcessLimit::OpenFiles => self.open_files = count,
            ProcessLimit::FileBytes => self.file_bytes = admitted as u64,
            ProcessLimit::TemporaryBytes => self.temporary_bytes = admitted as u64,
            ProcessLimit::OutputBytes => self.output_bytes = admitted as u64,
            ProcessLimit::Runs => self.runs = count,
        }
    }

    fn get(&self, limit: ProcessLimit) -> u64 {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        match limit {
            ProcessLimit::Time => milliseconds(self.time),
            ProcessLimit::CpuTime => milliseconds(self.cpu_time),
            ProcessLimit::Processes => self.processes.into(),
            ProcessLimit::Memory => self.memory_bytes,
            ProcessLimit::OpenFiles => self.open_files.into(),
            ProcessLimit::FileBytes => self.file_bytes,
            ProcessLimit::TemporaryBytes => self.temporary_bytes,
            ProcessLimit::OutputBytes => self.output_bytes,
            ProcessLimit::Runs => self.runs.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_as_high_as_it_is_documented_and_never_off() {
        let rows = [
            (ProcessLimit::Time, 120_000, 3_600_000),
            (ProcessLimit::CpuTime, 120_000, 14_400_000),
            (ProcessLimit::Processes, 64, 4096),
            (ProcessLimit::Memory, 1 << 30, 64 << 30),
            (ProcessLimit::OpenFiles, 1024, 65_536),
            (ProcessLimit::FileBytes, 1 << 30, 1 << 40),
            (ProcessLimit::TemporaryBytes, 256 << 20, 16 << 30),
            (ProcessLimit::OutputBytes, 16 << 20, 1 << 30),
            (ProcessLimit::Runs, 20, 10_000),
        ];
        assert_eq!(rows.map(|(limit, ..)| limit), ProcessLimit::ALL);
        for (limit, default, ceiling) in rows {
            let mut limits = ProcessLimits::default();
            assert_eq!(limits.get(limit), default, "{}", limit.key());
            assert!(limits.set(limit, 0).is_err() && limits.set(limit, ceiling + 1).is_err(), "{}", limit.key());
            assert_eq!(limits, ProcessLimits::default());
            limits.set(limit, ceiling).unwrap();
            assert_eq!((limits.get(limit), limits.changed().count()), (ceiling, 1), "{}", limit.key());
        }
    }
}
