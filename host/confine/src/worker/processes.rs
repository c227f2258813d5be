//! What the processes of a program use, read from `/proc`.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Dir, Mode, OFlags, open, openat};
use rustix::process::{Pid, getpid};
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

/// Returns the CPU time of a process and of its children that it has waited for. None if it has ended.
pub(super) fn cpu_time(processes: impl AsFd, number: u32) -> Option<Duration> {
    let text = read(processes, number, "stat")?;
    // Fields 14 to 17: of the process and of those children, each as a program and in the kernel.
    let fields = text.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
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
pub(super) fn descendants(process: Pid) -> io::Result<Vec<u32>> {
    let proc = open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut found = Vec::new();
    let mut next = vec![process.as_raw_nonzero().get().unsigned_abs()];
    while let Some(one) = next.pop() {
        let children = children_of(&proc, one);
        found.extend(&children);
        next.extend(children);
    }
    Ok(found)
}

/// Returns whether the kernel lists the children of a process.
pub(super) fn lists_children() -> bool {
    let own = getpid().as_raw_nonzero();
    rustix::fs::stat(format!("/proc/{own}/task/{own}/children")).is_ok()
}

/// Returns the children of all threads of a process. There is none if it has ended.
fn children_of(proc: &OwnedFd, process: u32) -> Vec<u32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(threads) = openat(proc, format!("{process}/task"), flags, Mode::empty()) else { return Vec::new() };
    let mut children = Vec::new();
    for thread in numbers_in(&threads).unwrap_or_default() {
        let text = read(&threads, thread, "children").unwrap_or_default();
        children.extend(text.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
    }
    children
}
