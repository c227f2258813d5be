//! Facts about this machine and its process, from the files of the kernel.

use portcullis_build::project_file;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::thread::available_parallelism;

/// The file about the processors.
const PROCESSORS: &str = "/proc/cpuinfo";

/// The file about the memory of this process.
const OWN_MEMORY: &str = "/proc/self/smaps_rollup";

/// Maximum size of such a file, in bytes. A machine with 512 processors has 1 MiB about them.
const KERNEL_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What decides how fast a machine is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MachineFacts {
    /// The name of the processor.
    pub(super) processor: String,
    /// The processors that this process may use.
    pub(super) cores: usize,
    /// The system and the instruction set.
    pub(super) system: String,
}

impl MachineFacts {
    /// Reads the facts of this machine.
    pub(super) fn read() -> Self {
        let text = project_file::read_text(Path::new(PROCESSORS), KERNEL_FILE_BYTES_MAX).unwrap_or_default();
        // ARM processors have no `model name` in this file.
        let model = text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == "model name");
        Self {
            processor: model.map_or("unknown processor", |(_, model)| model.trim()).to_owned(),
            cores: available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

impl Display for MachineFacts {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { processor, cores, system } = self;
        write!(formatter, "{processor}, {cores} cores, {system}")
    }
}

/// Returns the resident memory of this process in bytes, or `None` if the kernel does not tell.
pub(super) fn resident_bytes() -> Option<u64> {
    let text = project_file::read_text(Path::new(OWN_MEMORY), KERNEL_FILE_BYTES_MAX).ok()?;
    let kibibytes = text.lines().find_map(|line| line.strip_prefix("Rss:"))?;
    kibibytes.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
