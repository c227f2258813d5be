//! Counts the CPU time of a program.
//!
//! The kernel adds the time of a process that has ended to the process that waited for it. If its parent ignores
//! `SIGCHLD`, no process waits for it, and its time is lost, getrusage(2). So the meter also keeps what it has seen of
//! each process. A process that ends between two looks has used a little more than that.

use super::processes::ProcessStat;
use std::collections::HashMap;
use std::time::Duration;

/// For how many looks a process is kept that was not found. A list of processes may miss one that is still there.
const MISSES_MAX: u32 = 50;

/// The CPU time of a program, as far as it is known.
#[derive(Default)]
pub(super) struct CpuMeter {
    /// The processes of the last looks, by their number and the time when they began.
    seen: HashMap<(u32, u64), SeenProcess>,
    /// What the processes had used that are kept no longer.
    ended: Duration,
}

struct SeenProcess {
    own: Duration,
    misses: u32,
}

impl CpuMeter {
    /// Looks at the processes of a program. `waited` is the time of those that this process has waited for. Returns the
    /// time of all until now.
    pub(super) fn look(&mut self, processes: &[ProcessStat], waited: Duration) -> Duration {
        for process in self.seen.values_mut() {
            process.misses += 1;
        }
        let mut counted = waited;
        for process in processes {
            counted += process.own_cpu + process.children_cpu;
            let identity = (process.number, process.began);
            self.seen.insert(identity, SeenProcess { own: process.own_cpu, misses: 0 });
        }
        self.seen.retain(|_, process| {
            let is_kept = process.misses <= MISSES_MAX;
            if !is_kept {
                self.ended += process.own;
            }
            is_kept
        });
        // Neither sum has a time twice, and each lacks a different part of the whole.
        counted.max(self.ended + self.seen.values().map(|process| process.own).sum::<Duration>())
    }
}
