//! Describes what a program may see and use.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What one program may see and use. Everything else does not exist for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Confinement {
    /// The directories that the program sees, in the order of their descriptors in
    /// [`ProgramStart`](crate::ProgramStart).
    pub directories: Vec<ViewDirectory>,
    /// Where the program starts: a path in one of the directories, or `/tmp`.
    pub working_directory: PathBuf,
    /// The whole environment.
    pub environment: Vec<(String, String)>,
    /// What the program can connect to.
    pub network: ProgramNetwork,
    /// The limits.
    pub limits: ConfinementLimits,
}

/// The port on `127.0.0.1` at which a program finds its proxy: the one that Squid made usual.
pub const PROXY_PORT: u16 = 3128;

/// What a program can connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramNetwork {
    /// Nothing outside. With namespaces, it has a loopback interface of its own.
    None,
    /// A listener of the caller at [`PROXY_PORT`] of the program's own loopback interface. Only namespaces have it.
    Proxy,
}

/// A directory of the machine in a program's view. It is at the same path as on the machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewDirectory {
    /// The absolute path, as the machine has it. The broker opens it again, and refuses the start unless it is the
    /// directory of the descriptor.
    pub path: PathBuf,
    /// A link at the root of the view that leads to the directory, if nothing else has the name: `workspace` becomes
    /// `/workspace`.
    pub link: Option<String>,
    /// What the program may do in it.
    pub access: ViewAccess,
    /// Places in it that the program must not read or change.
    pub masked: Vec<MaskedPath>,
}

/// What a program may do in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViewAccess {
    /// List and read.
    ReadOnly,
    /// Everything.
    ReadWrite,
}

/// A place in a directory that exists when the program starts, and that is masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskedPath {
    /// The path relative to the directory. Its names may have any bytes.
    #[cfg_attr(target_os = "linux", serde(with = "crate::path_bytes"))]
    pub path: PathBuf,
    /// How it is masked.
    pub masked: Masked,
}

/// How a place is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Masked {
    /// The program sees an empty file or directory that no user can read.
    Hidden,
    /// The program cannot change it.
    ReadOnly,
}

/// The limits of a run. Each is reached by all of its processes together, unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementLimits {
    /// Maximum wall-clock time.
    pub time: Duration,
    /// Maximum CPU time.
    pub cpu_time: Duration,
    /// Maximum number of processes and threads at the same time.
    pub processes: u32,
    /// Maximum memory, in bytes.
    pub memory_bytes: u64,
    /// Maximum number of open files of one process.
    pub open_files: u32,
    /// Maximum size of one written file, in bytes.
    pub file_bytes: u64,
    /// Size of the private `/tmp`, in bytes.
    pub temporary_bytes: u64,
}
