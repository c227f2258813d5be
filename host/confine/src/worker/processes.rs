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

/// What `stat` says of a process.
pub(super) struct ProcessStat {
    pub(super) number: u32,
    /// When it began, in ticks since the machine did. Another process with its number began later.
    pub(super) began: u64,
    pub(super) threads: u64,
    /// The CPU time of its threads, also of those that have ended.
    pub(super) own_cpu: Duration,
    /// The CPU time of the children that it has waited for, and of theirs.
    pub(super) children_cpu: Duration,
}

impl ProcessStat {
    /// Reads it. None if the process has ended.
    pub(super) fn read(proc: &OwnedFd, number: u32) -> Option<Self> {
        let text = read(proc, number, "stat")?;
        // The name of the program may have any characters, and ends with the last parenthesis. What follows begins with
        // field 3 of proc_pid_stat(5).
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).and_then(|field| field.parse::<u64>().ok());
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        let time = |numbers: [usize; 2]| {
            let ticks: u64 = numbers.into_iter().filter_map(field).sum();
            Duration::from_millis(ticks.saturating_mul(1000) / per_second)
        };
        let (own_cpu, children_cpu) = (time([14, 15]), time([16, 17]));
        Some(Self { number, began: field(22)?, threads: field(20)?, own_cpu, children_cpu })
    }
}

/// Returns the bytes that a process has in memory and shares with no file: an upper bound, because forked processes
/// share pages. None if it has ended.
pub(super) fn resident_bytes(proc: &OwnedFd, number: u32) -> Option<u64> {
    sum_of(&read(proc, number, "status")?, ["RssAnon:", "RssShmem:"])
}

/// Returns the bytes of a process, with its share of what it shares. The kernel walks all pages for it, so it is read
/// only when the upper bound exceeds the limit.
pub(super) fn proportional_bytes(proc: &OwnedFd, number: u32) -> Option<u64> {
    sum_of(&read(proc, number, "smaps_rollup")?, ["Pss_Anon:", "Pss_Shmem:"])
}

/// Returns the sum of lines such as `RssAnon:  12 kB`, in bytes.
fn sum_of(text: &str, names: [&str; 2]) -> Option<u64> {
    let kibibytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let sum: u64 = names.into_iter().filter_map(kibibytes).sum();
    sum.checked_mul(1024)
}

fn read(proc: impl AsFd, number: u32, name: &str) -> Option<String> {
    let path = format!("{number}/{name}");
    let file = openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = Vec::new();
    File::from(file).take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens `/proc`.
pub(super) fn open_proc() -> io::Result<OwnedFd> {
    Ok(open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Returns the numbers of all descendants of a process.
pub(super) fn descendants(proc: &OwnedFd, process: Pid) -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = vec![process.as_raw_nonzero().get().unsigned_abs()];
    while let Some(one) = next.pop() {
        let children = children_of(proc, one);
        found.extend(&children);
        next.extend(children);
    }
    found
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
