//! The limits of one call: their names, defaults and ceilings, each with its reason.
//!
//! It must not know how a limit is enforced, nor how a policy spells an amount.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const HOUR_MILLISECONDS: usize = 60 * 60 * 1000;

/// Linear memory of all instances of one call together: an interpreter with its heap fits, and a hundred calls at once
/// fit in a small machine.
pub const MEMORY_BYTES: usize = 64 * MIB;
/// A call that needs more than this is a job for a process of its own, with the machine's own limits.
pub const MEMORY_CEILING_BYTES: usize = 1024 * MIB;

/// Measured: the tables of QuickJS, CPython and StarlingMonkey guests fit, and an element costs the host a pointer.
pub const TABLE_ELEMENTS: usize = 20_000;
/// At a pointer an element this is still less host memory than the default linear memory.
pub const TABLE_CEILING_ELEMENTS: usize = 1_000_000;

/// CPython guests have 14; several composed components still fit.
pub const CORE_INSTANCES: usize = 64;
/// Instantiation walks them one by one before any deadline can stop it.
pub const CEILING_CORE_INSTANCES: usize = 256;

/// CPython guests have 14 core instances, each of which may bring a table.
pub const TABLES: usize = 32;
/// Pooled slots are reserved for each, whether they are used or not.
pub const CEILING_TABLES: usize = 128;

/// A guest has one; composed components have one each.
pub const MEMORIES: usize = 8;
/// Each reserves address space, whether it is used or not.
pub const CEILING_MEMORIES: usize = 32;

/// Wall clock, since an epoch does not stop a guest that waits on the host. A model and a person wait this long.
pub const TIME_MILLISECONDS: usize = 30_000;
/// After an hour a waiting session is gone, and the handles would outlive whoever asked for them.
pub const TIME_CEILING_MILLISECONDS: usize = HOUR_MILLISECONDS;

/// What one host call may copy out of a guest is what the host allocates before it can look at it.
pub const TRANSFER_BYTES: usize = 8 * MIB;
/// The engine's own default; above it one host call can exhaust a small machine.
pub const TRANSFER_CEILING_BYTES: usize = 128 * MIB;

/// A directory walk holds a few hundred open; a leak is found out before it costs the host much.
pub const HANDLES: usize = 4096;
/// The engine's own default for one store.
pub const CEILING_HANDLES: usize = 100_000;

/// The same number as handles, as every handle to a host resource has an entry here.
pub const RESOURCES: usize = 4096;
/// The same ceiling as handles, for the same reason.
pub const CEILING_RESOURCES: usize = 100_000;

/// Memory that the host holds for one call in addition to the guest's memory: half of that memory. The listing of a
/// directory at its limit is about 3 MiB. A connection takes 1.5 MiB, and a call can have eight at one time.
pub const HOST_MEMORY_BYTES: usize = 32 * MIB;
/// The same ceiling as linear memory, for the same reason.
pub const HOST_MEMORY_CEILING_BYTES: usize = 1024 * MIB;

/// A key needs 32 bytes; the host allocates and fills what is asked for while nothing else can run.
pub const RANDOM_BYTES: usize = 64 * KIB;
/// Enough for any seed; more than this is a load on the host's generator and not a need.
pub const RANDOM_CEILING_BYTES: usize = MIB;

/// A person who reads the record reads a few pages; a guest that prints in a loop must not fill it.
pub const LOG_BYTES: usize = 64 * KIB;
/// The text is held in memory until the record is written.
pub const LOG_CEILING_BYTES: usize = 16 * MIB;

/// A model writes a long file in this; parsing it costs milliseconds.
pub const ARGUMENTS_BYTES: usize = MIB;
/// Parsing, hashing and showing the arguments are linear in it and run before any sandbox is there.
pub const ARGUMENTS_CEILING_BYTES: usize = 16 * MIB;

/// Maximum bytes of memory for each byte of JSON. A long list of small objects takes about 30. A list of objects with
/// one short member takes up to 100.
pub const JSON_MEMORY_FACTOR: usize = 32;
/// A shorter text may use the memory of a text of this length, which is 32 MiB: any text of 256 KiB fits.
pub const JSON_SMALL_TEXT_BYTES: usize = MIB;

/// More than this fills the context of a model; a longer output is spilled instead.
pub const OUTPUT_BYTES: usize = 256 * KIB;
/// The output is held in memory, validated and searched for secrets before it is passed on.
pub const OUTPUT_CEILING_BYTES: usize = 64 * MIB;

/// What a tool writes of its answer while it runs goes to disk, for a person or a model to read in pages: a long log or
/// a listing of a large tree fits, an answer without end does not fill the disk.
pub const KEPT_OUTPUT_BYTES: usize = 64 * MIB;
/// A larger answer is a file, which a tool with a directory writes there.
pub const KEPT_OUTPUT_CEILING_BYTES: usize = 1024 * MIB;

/// A bar moves by tenths of a percent; more reports tell nobody anything.
pub const PROGRESS_REPORTS: usize = 1000;
/// Each report is a message to every listener of the session.
pub const CEILING_PROGRESS_REPORTS: usize = 100_000;

/// A large source directory fits; the host collects the entries before it can hand out the first.
pub const DIRECTORY_ENTRIES: usize = 10_000;
/// At some 100 bytes an entry this is 100 MB of host memory.
pub const CEILING_DIRECTORY_ENTRIES: usize = 1_000_000;

/// What one call may write into its directories, holes included: a large generated file fits, a full disk does not.
pub const WRITTEN_BYTES: usize = 64 * MIB;
/// A call that writes more than this is a copy job for a program that a person starts.
pub const WRITTEN_CEILING_BYTES: usize = 64 * 1024 * MIB;

/// Files, directories and links that one call may create: a scaffolded project fits, a table of inodes does not.
pub const CREATED_ENTRIES: usize = 1000;
/// Deleting more than this again takes minutes.
pub const CEILING_CREATED_ENTRIES: usize = 1_000_000;

/// A person who is at the desk answers within minutes; an unanswered question ends as a no.
pub const APPROVAL_TIME_MILLISECONDS: usize = 300_000;
/// After a day nobody remembers what the question was about.
pub const APPROVAL_TIME_CEILING_MILLISECONDS: usize = 24 * HOUR_MILLISECONDS;

/// What one call may use. Every limit is on: the smallest value a policy can set is 1.
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
    /// Wall-clock time of one call, the time inside host functions included.
    pub time: Duration,
    /// Bytes that one host call may copy from the guest to the host.
    pub transfer_bytes: usize,
    /// Component handles that one call may hold at the same time.
    pub handles: usize,
    /// Entries of the host's own resource table that one call may hold at the same time.
    pub resources: usize,
    /// Memory that the host may hold for one call outside the guest's own memory, in bytes.
    pub host_memory_bytes: usize,
    /// Random bytes that one request may ask for.
    pub random_bytes: usize,
    /// Bytes of standard output and standard error together that one call may write.
    pub log_bytes: usize,
    /// Size of the arguments of one call as JSON text, in bytes.
    pub arguments_bytes: usize,
    /// Size of the output of one call, in bytes.
    pub output_bytes: usize,
    /// Size of what one call may write of its answer while it runs, in bytes.
    pub kept_output_bytes: usize,
    /// Progress reports that one call may send.
    pub progress_reports: usize,
    /// Entries that the reading of one directory may collect.
    pub directory_entries: usize,
    /// Bytes that one call may write into its directories, not given back when they are deleted.
    pub written_bytes: usize,
    /// Files, directories and links that one call may create in its directories.
    pub created_entries: usize,
    /// Wall-clock time that a call waits for a person's answer.
    pub approval_time: Duration,
}

impl Limits {
    /// Of each limit the larger of the two.
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
        }
    }
}

impl Default for Limits {
    /// The limits of a policy that sets none.
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
        }
    }
}

/// A count of milliseconds below a ceiling of this file, as a duration.
pub(crate) fn milliseconds(count: usize) -> Duration {
    Duration::from_millis(u64::try_from(count).unwrap_or(u64::MAX))
}
