//! The limits of one call: their names, defaults and ceilings, each with its reason.
//!
//! This file must not know how a limit is enforced, or how a policy spells an amount.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const HOUR_MILLISECONDS: usize = 60 * 60 * 1000;

/// Linear memory of all instances of one call together. An interpreter with its heap fits, and a hundred concurrent
/// calls fit in a small machine.
pub const MEMORY_BYTES: usize = 64 * MIB;
/// A call that needs more memory should be a separate process, with the limits of the machine.
pub const MEMORY_CEILING_BYTES: usize = 1024 * MIB;

/// Measured: the tables of QuickJS, CPython and StarlingMonkey guests fit. An element costs the host a pointer.
pub const TABLE_ELEMENTS: usize = 20_000;
/// At one pointer per element, this is still less host memory than the default linear memory.
pub const TABLE_CEILING_ELEMENTS: usize = 1_000_000;

/// CPython guests have 14. Several composed components still fit.
pub const CORE_INSTANCES: usize = 64;
/// Instantiation walks them one by one, and no deadline can interrupt it.
pub const CEILING_CORE_INSTANCES: usize = 256;

/// CPython guests have 14 core instances, each of which may have a table.
pub const TABLES: usize = 32;
/// The pool reserves slots for each, even if they are not used.
pub const CEILING_TABLES: usize = 128;

/// A guest has one. Composed components have one each.
pub const MEMORIES: usize = 8;
/// Each reserves address space, even if it is not used.
pub const CEILING_MEMORIES: usize = 32;

/// Wall-clock time, because an epoch deadline does not interrupt a guest that waits for the host. Models and users wait
/// this long.
pub const TIME_MILLISECONDS: usize = 30_000;
/// After an hour, a waiting session has usually ended, and its handles should not outlive it.
pub const TIME_CEILING_MILLISECONDS: usize = HOUR_MILLISECONDS;

/// Bytes that one host call may copy out of a guest. The host allocates them before it can check them.
pub const TRANSFER_BYTES: usize = 8 * MIB;
/// The engine's default. Above it, one host call can exhaust a small machine.
pub const TRANSFER_CEILING_BYTES: usize = 128 * MIB;

/// A directory walk has a few hundred handles open. A leak is detected before it costs the host much.
pub const HANDLES: usize = 4096;
/// The engine's default for one store.
pub const CEILING_HANDLES: usize = 100_000;

/// The same number as handles, because every handle to a host resource has an entry here.
pub const RESOURCES: usize = 4096;
/// The same ceiling as handles, for the same reason.
pub const CEILING_RESOURCES: usize = 100_000;

/// Memory that the host holds for one call in addition to the guest's memory: half of that memory. The listing of a
/// directory at its limit is about 3 MiB. A connection takes 1.5 MiB, and a call can have eight at one time.
pub const HOST_MEMORY_BYTES: usize = 32 * MIB;
/// The same ceiling as linear memory, for the same reason.
pub const HOST_MEMORY_CEILING_BYTES: usize = 1024 * MIB;

/// A key needs 32 bytes. The host allocates and fills the bytes while it blocks other work.
pub const RANDOM_BYTES: usize = 64 * KIB;
/// Enough for any seed. More would only load the host's generator.
pub const RANDOM_CEILING_BYTES: usize = MIB;

/// A user who reads the audit log reads a few pages. A guest that prints in a loop must not fill it.
pub const LOG_BYTES: usize = 64 * KIB;
/// The text stays in memory until the entry is written.
pub const LOG_CEILING_BYTES: usize = 16 * MIB;

/// A long file that a model writes fits. Parsing it takes milliseconds.
pub const ARGUMENTS_BYTES: usize = MIB;
/// Parsing, hashing and showing the arguments take linear time, and run before the sandbox exists.
pub const ARGUMENTS_CEILING_BYTES: usize = 16 * MIB;

/// Maximum bytes of memory for each byte of JSON. A long list of small objects takes about 30. A list of objects with
/// one short member takes up to 100.
pub const JSON_MEMORY_FACTOR: usize = 32;
/// A shorter text may use the memory of a text of this length, which is 32 MiB. Any text of 256 KiB fits.
pub const JSON_SMALL_TEXT_BYTES: usize = MIB;

/// A larger output would fill the context of a model. It is spilled instead.
pub const OUTPUT_BYTES: usize = 256 * KIB;
/// The output is held in memory, validated and searched for secrets before the host passes it on.
pub const OUTPUT_CEILING_BYTES: usize = 64 * MIB;

/// The part of an output that a tool writes while it runs. It goes to disk, where users and models read it in pages. A
/// long log or the listing of a large tree fits, and an endless output does not fill the disk.
pub const KEPT_OUTPUT_BYTES: usize = 64 * MIB;
/// A larger output should be a file in a directory of the tool.
pub const KEPT_OUTPUT_CEILING_BYTES: usize = 1024 * MIB;

/// A progress bar moves by tenths of a percent. More reports are not useful.
pub const PROGRESS_REPORTS: usize = 1000;
/// Each report is a message to every subscriber of the session.
pub const CEILING_PROGRESS_REPORTS: usize = 100_000;

/// A large source directory fits. The host collects the entries before it returns the first.
pub const DIRECTORY_ENTRIES: usize = 10_000;
/// At about 100 bytes per entry, this is 100 MB of host memory.
pub const CEILING_DIRECTORY_ENTRIES: usize = 1_000_000;

/// Bytes that one call may write into its directories, including holes. A large generated file fits, and the disk does
/// not fill up.
pub const WRITTEN_BYTES: usize = 64 * MIB;
/// A call that writes more is a copy job for a separate program.
pub const WRITTEN_CEILING_BYTES: usize = 64 * 1024 * MIB;

/// Files, directories and links that one call may create. A scaffolded project fits, and the inode table does not fill
/// up.
pub const CREATED_ENTRIES: usize = 1000;
/// Deleting more again takes minutes.
pub const CEILING_CREATED_ENTRIES: usize = 1_000_000;

/// An approver at the desk answers within minutes. An unanswered request ends as denied.
pub const APPROVAL_TIME_MILLISECONDS: usize = 300_000;
/// After a day, the approver does not remember what the request was about.
pub const APPROVAL_TIME_CEILING_MILLISECONDS: usize = 24 * HOUR_MILLISECONDS;

/// A model that works on a task makes its next call within minutes. Then the memory goes to other sessions.
pub const IDLE_TIME_MILLISECONDS: usize = 300_000;
/// After an hour, a session has usually ended.
pub const IDLE_TIME_CEILING_MILLISECONDS: usize = HOUR_MILLISECONDS;

/// The limits of one call. No limit can be turned off: the smallest value in a policy is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory that all instances of one call may hold together, in bytes.
    pub memory_bytes: usize,
    /// Elements that one table may hold.
    pub table_elements: usize,
    /// Core instances that one component may have.
    pub core_instances: usize,
    /// Tables that one component may have.
    pub tables: usize,
    /// Linear memories that one component may have.
    pub memories: usize,
    /// Wall-clock time of one call, including the time inside host functions.
    pub time: Duration,
    /// Bytes that one host call may copy from the guest to the host.
    pub transfer_bytes: usize,
    /// Component handles that one call may hold at the same time.
    pub handles: usize,
    /// Entries of the host's resource table that one call may hold at the same time.
    pub resources: usize,
    /// Memory that the host may hold for one call outside the guest's own memory, in bytes.
    pub host_memory_bytes: usize,
    /// Random bytes that one request may ask for.
    pub random_bytes: usize,
    /// Bytes that one call may write to standard output and standard error together.
    pub log_bytes: usize,
    /// Size of the arguments of one call as JSON text, in bytes.
    pub arguments_bytes: usize,
    /// Size of the output of one call, in bytes.
    pub output_bytes: usize,
    /// Size of the output that one call may write while it runs, in bytes.
    pub kept_output_bytes: usize,
    /// Progress reports that one call may send.
    pub progress_reports: usize,
    /// Entries that the host may collect when it lists one directory.
    pub directory_entries: usize,
    /// Bytes that one call may write into its directories. Deleting files does not give them back.
    pub written_bytes: usize,
    /// Files, directories and links that one call may create in its directories.
    pub created_entries: usize,
    /// Wall-clock time that a call waits for an approver.
    pub approval_time: Duration,
    /// Wall-clock time that the instance of a session waits for its next call.
    pub idle_time: Duration,
}

impl Limits {
    /// Returns the larger value of each limit.
    #[must_use]
    pub fn max(&self, other: &Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.max(other.memory_bytes),
            table_elements: self.table_elements.max(other.table_elements),
            core_instances: self.core_instances.max(other.core_instances),
            tables: self.tables.max(other.tables),
            memories: self.memories.max(other.memories),
            time: self.time.max(other.time),
            transfer_bytes: self.transfer_bytes.max(other.transfer_bytes),
            handles: self.handles.max(other.handles),
            resources: self.resources.max(other.resources),
            host_memory_bytes: self.host_memory_bytes.max(other.host_memory_bytes),
            random_bytes: self.random_bytes.max(other.random_bytes),
            log_bytes: self.log_bytes.max(other.log_bytes),
            arguments_bytes: self.arguments_bytes.max(other.arguments_bytes),
            output_bytes: self.output_bytes.max(other.output_bytes),
            kept_output_bytes: self.kept_output_bytes.max(other.kept_output_bytes),
            progress_reports: self.progress_reports.max(other.progress_reports),
            directory_entries: self.directory_entries.max(other.directory_entries),
            written_bytes: self.written_bytes.max(other.written_bytes),
            created_entries: self.created_entries.max(other.created_entries),
            approval_time: self.approval_time.max(other.approval_time),
            idle_time: self.idle_time.max(other.idle_time),
        }
    }
}

impl Default for Limits {
    /// Returns the limits of a policy that sets none.
    fn default() -> Self {
        Self {
            memory_bytes: MEMORY_BYTES,
            table_elements: TABLE_ELEMENTS,
            core_instances: CORE_INSTANCES,
            tables: TABLES,
            memories: MEMORIES,
            time: milliseconds(TIME_MILLISECONDS),
            transfer_bytes: TRANSFER_BYTES,
            handles: HANDLES,
            resources: RESOURCES,
            host_memory_bytes: HOST_MEMORY_BYTES,
            random_bytes: RANDOM_BYTES,
            log_bytes: LOG_BYTES,
            arguments_bytes: ARGUMENTS_BYTES,
            output_bytes: OUTPUT_BYTES,
            kept_output_bytes: KEPT_OUTPUT_BYTES,
            progress_reports: PROGRESS_REPORTS,
            directory_entries: DIRECTORY_ENTRIES,
            written_bytes: WRITTEN_BYTES,
            created_entries: CREATED_ENTRIES,
            approval_time: milliseconds(APPROVAL_TIME_MILLISECONDS),
            idle_time: milliseconds(IDLE_TIME_MILLISECONDS),
        }
    }
}

/// Converts milliseconds below a ceiling of this file to a duration.
pub(crate) fn milliseconds(count: usize) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(u64::MAX))
}
