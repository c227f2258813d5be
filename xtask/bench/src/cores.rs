//! The processors that this process may use.

use anyhow::{Result, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Keeps this process, and those that it starts from now on, on so many processors. It cannot be undone.
pub(crate) fn keep_to(cores: usize) -> Result<()> {
    let all = sched_getaffinity(None)?;
    let mut kept = CpuSet::new();
    (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).take(cores).for_each(|cpu| kept.set(cpu));
    ensure!(kept.count() as usize == cores, "this machine has no {cores} cores");
    Ok(sched_setaffinity(None, &kept)?)
}
