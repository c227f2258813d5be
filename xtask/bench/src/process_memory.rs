//! The memory of a process, as the kernel counts it.

use anyhow::{Context, Result};

/// The memory of a process, in KiB.
pub(crate) struct ProcessMemory {
    pub(crate) resident: f64,
    /// The part of it that no file backs.
    pub(crate) anonymous: f64,
}

impl ProcessMemory {
    /// Returns the memory of the process with this id.
    pub(crate) fn of(process: u32) -> Result<Self> {
        let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
        let field = |name: &str| -> Result<f64> {
            let kibibytes = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
            Ok(kibibytes.with_context(|| format!("the kernel does not tell {name}"))?.parse()?)
        };
        Ok(Self { resident: field("Rss:")?, anonymous: field("Anonymous:")? })
    }
}
