//! The limits of an installation. Each has a row in `docs/limits.md`.

use std::time::Duration;

/// Maximum time of an installation. The largest known servers take a minute; a slow network takes several.
pub const INSTALL_SECONDS_MAX: u64 = 600;

/// Maximum bytes that an installation writes, with its downloads and its temporary files. Servers that bring a machine
/// learning runtime have some hundred MiB.
pub const INSTALL_BYTES_MAX: u64 = 1 << 30;

/// Maximum bytes of one file of an installation. The largest known libraries in wheels have 300 MiB.
pub const INSTALL_FILE_BYTES_MAX: u64 = 512 << 20;

/// Maximum files and directories of an installation, with the entries of the cache. The largest known servers have
/// 30,000.
pub const INSTALL_FILES_MAX: u64 = 100_000;

/// Maximum packages of an installation. An approver would not read a longer list.
pub const INSTALL_PACKAGES_MAX: usize = 3000;

/// Maximum depth of directories in a package. Nested folders `node_modules` use two for each level.
pub(crate) const TREE_DEPTH_MAX: usize = 100;

/// Maximum bytes of a document that npm, pip or a package writes and this crate reads: a lock file, a report, a
/// `package.json`. The report of pip has the description of every package.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// Maximum programs that a package can offer. Some have one for each of their subcommands.
pub(crate) const PROGRAMS_MAX: usize = 100;

/// What one installation may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallLimits {
    /// Maximum time of all steps together.
    pub time: Duration,
    /// Maximum bytes of everything that is written.
    pub bytes_max: u64,
    /// Maximum bytes of one file.
    pub file_bytes_max: u64,
    /// Maximum files and directories.
    pub files_max: u64,
    /// Maximum packages.
    pub packages_max: usize,
}

impl Default for InstallLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(INSTALL_SECONDS_MAX),
            bytes_max: INSTALL_BYTES_MAX,
            file_bytes_max: INSTALL_FILE_BYTES_MAX,
            files_max: INSTALL_FILES_MAX,
            packages_max: INSTALL_PACKAGES_MAX,
        }
    }
}
