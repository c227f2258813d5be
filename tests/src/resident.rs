//! The resident memory of a process, as the kernel counts it.

use std::fs;

/// Returns the resident memory of this process, in bytes.
pub fn resident() -> u64 {
    status("self", "VmRSS:")
}

/// Returns the resident memory of another process, in bytes.
pub fn resident_of(process: u32) -> u64 {
    status(&process.to_string(), "VmRSS:")
}

/// Returns by how much work raises the peak of resident memory above its current value, in bytes.
pub async fn peak_of<T>(work: impl Future<Output = T>) -> (u64, T) {
    // Resets the kernel's peak.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = resident();
    let done = work.await;
    (status("self", "VmHWM:").saturating_sub(before), done)
}

/// Returns a field of a process's status, in bytes.
fn status(process: &str, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
