//! What the processes of a program use, read from `/proc`.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, Mode, OFlags, openat};
use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;

/// Maximum bytes to read of a file about a process.
const FILE_BYTES_MAX: u64 = 64 * 1024;


/// Returns the numbers of the processes that a `/proc` lists.
pub(super) fn numbers_in(processes: &OwnedFd) -> io::Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for entry in Dir::read_from(processes)? {
        if let Some(number) = entry?.file_name().to_str().ok().and_then(|name| name.parse().ok()) {
            numbers.push(number);
        }
    }
    Ok(numbers)
}

/// Returns the number of threads of a process. None if it has ended.
pub(super) fn threads(processes: impl AsFd, number: u32) -> Option<u64> {
    let text = read(processes, number, "stat")?;
    // The name of the program may have any characters, and ends with the last parenthesis. Field 20 of proc_pid_stat(5)
    // is the 18th after it.
    text.rsplit_once(')')?.1.split_whitespace().nth(17)?.parse().ok()
}

/// Returns the CPU time of a process. None if it has ended.
pub(super) fn cpu_time(processes: impl AsFd, number: u32) -> Option<Duration> {
    let text = read(processes, number, "stat")?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    let per_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_millis(ticks.saturating_mul(1000) / per_second.max(1)))
}

/// Returns the bytes that a process has in memory and shares with no file: an upper bound, because forked processes
/// share pages. None if it has ended.
pub(super) fn resident_bytes(processes: impl AsFd, number: u32) -> Option<u64> {
    let text = read(processes, number, "status")?;
    let of = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
    };
    Some(of("RssAnon:") + of("RssShmem:"))
}

/// Returns the bytes of a process, with its share of what it shares. The kernel walks all pages for it, so it is read
/// only when the upper bound exceeds the limit.
pub(super) fn proportional_bytes(processes: impl AsFd, number: u32) -> Option<u64> {
    let text = read(processes, number, "smaps_rollup")?;
    let of = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
    };
    Some(of("Pss_Anon:") + of("Pss_Shmem:"))
}

fn read(processes: impl AsFd, number: u32, name: &str) -> Option<String> {
    let path = format!("{number}/{name}");
    let file = openat(processes, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = Vec::new();
    File::from(file).take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the numbers of all descendants of a process.
pub(super) fn descendants(process: rustix::process::Pid) -> io::Result<Vec<u32>> {
    let proc = rustix::fs::open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut parents = std::collections::BTreeMap::<u32, Vec<u32>>::new();
    for number in numbers_in(&proc)? {
        // The field after the state, which follows the name.
        let parent = read(&proc, number, "stat")
            .and_then(|text| text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok());
        if let Some(parent) = parent {
            parents.entry(parent).or_default().push(number);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![process.as_raw_nonzero().get().unsigned_abs()];
    while let Some(one) = open.pop() {
        for child in parents.remove(&one).unwrap_or_default() {
            found.push(child);
            open.push(child);
        }
    }
    Ok(found)
}
