//! Watches a program until it ends, reaches a limit, or its host lets go of it.

use super::launch::Launch;
use super::processes;
use super::tier_cell::TierCell;
use crate::confinement::ConfinementLimits;
use crate::exit::{ProgramExit, ProgramReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use std::io;
use std::time::{Duration, Instant};

/// How often the use of a program is compared with its limits at first. A program that forks without end makes some
/// hundreds of processes in this time.
const WATCH_EVERY: Duration = Duration::from_millis(5);

/// How often it is compared once the program has run for a while. A program takes some megabytes in this time.
const WATCH_LATER_EVERY: Duration = Duration::from_millis(20);

/// When a program has run for a while.
const LATER: Duration = Duration::from_millis(500);

/// Maximum time to kill what is left of a program. Each round kills all processes that exist.
const KILL_TIME_MAX: Duration = Duration::from_secs(10);

/// The wait between two rounds.
const KILL_AGAIN_AFTER: Duration = Duration::from_micros(200);

/// Watches a program until nothing of it is left.
pub(super) fn supervise<T: TierCell>(
    cell: &T,
    limits: &ConfinementLimits,
    control: &OwnedFd,
    program: &Launch,
) -> io::Result<ProgramReport> {
    let began = Instant::now();
    let watch = Watch { proc: open("/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok() };
    let mut reaped = Reaped { program: program.pid, status: None };
    let stopped = loop {
        let late = began.elapsed() >= LATER;
        let left = limits.time.saturating_sub(began.elapsed());
        match wait_for(control, &program.process, left.min(if late { WATCH_LATER_EVERY } else { WATCH_EVERY }))? {
            Woken::Released => break Some("the host ended it".to_owned()),
            Woken::Ended | Woken::Time => {}
        }
        reaped.reap();
        if reaped.status.is_some() {
            break None;
        }
        if began.elapsed() >= limits.time {
            break Some(format!("it ran longer than {} s, its limit of time", limits.time.as_secs_f64()));
        }
        if let Some(why) = watch.exceeded(cell, limits)? {
            break Some(why);
        }
    };
    let left = if stopped.is_none() { cell.processes()?.len() } else { 0 };
    end(cell, &mut reaped)?;
    let exit = match (stopped, reaped.status) {
        (Some(why), _) => ProgramExit::Stopped(why),
        (None, Some(status)) => exit_of(status, limits),
        (None, None) => return Err(io::Error::other("the program vanished")),
    };
    let cpu = children_cpu_time();
    Ok(ProgramReport { exit, wall: began.elapsed(), cpu, left_processes: u32::try_from(left).unwrap_or(u32::MAX) })
}

enum Woken {
    /// The program has ended.
    Ended,
    /// The host closed its end of the control socket.
    Released,
    Time,
}

fn wait_for(control: &OwnedFd, program: &OwnedFd, most: Duration) -> io::Result<Woken> {
    // One more nanosecond than nothing, so that the last moment of a limit is not waited for in a loop.
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    let mut polled = [PollFd::new(control, PollFlags::IN | PollFlags::RDHUP), PollFd::new(program, PollFlags::IN)];
    match poll(&mut polled, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let [control, program] = polled.map(|one| !one.revents().is_empty());
    Ok(if control {
        Woken::Released
    } else if program {
        Woken::Ended
    } else {
        Woken::Time
    })
}

/// What has ended of a program.
struct Reaped {
    program: Pid,
    status: Option<WaitStatus>,
}

impl Reaped {
    /// Waits for the processes that have ended. Returns whether any is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((number, status))) if number == self.program => self.status = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                // There is none.
                Err(_) => return false,
            }
        }
    }
}

/// Kills everything that is left, until nothing is.
fn end<T: TierCell>(cell: &T, reaped: &mut Reaped) -> io::Result<()> {
    let began = Instant::now();
    loop {
        cell.kill();
        if !reaped.reap() {
            return Ok(());
        }
        if began.elapsed() > KILL_TIME_MAX {
            return Err(io::Error::other("a process of the program cannot be killed"));
        }
        std::thread::sleep(KILL_AGAIN_AFTER);
    }
}

fn exit_of(status: WaitStatus, limits: &ConfinementLimits) -> ProgramExit {
    if let Some(code) = status.exit_status() {
        return ProgramExit::Code(u8::try_from(code).unwrap_or(u8::MAX));
    }
    let signal = status.terminating_signal().unwrap_or_default();
    if signal == libc::SIGXCPU {
        return ProgramExit::Stopped(cpu_exceeded(limits));
    }
    ProgramExit::Signal(u8::try_from(signal).unwrap_or(u8::MAX))
}

fn cpu_exceeded(limits: &ConfinementLimits) -> String {
    format!("it computed longer than {} s, its limit of CPU time", limits.cpu_time.as_secs_f64())
}

/// Compares what a program uses with its limits.
struct Watch {
    /// None if the tier has no `/proc`; the limits of each process then remain.
    proc: Option<OwnedFd>,
}

impl Watch {
    /// Returns which limit the program exceeds.
    fn exceeded<T: TierCell>(&self, cell: &T, limits: &ConfinementLimits) -> io::Result<Option<String>> {
        let numbers = cell.processes()?;
        let over = format!("it had more than {} processes and threads, its limit", limits.processes);
        if numbers.len() as u64 > u64::from(limits.processes) {
            return Ok(Some(over));
        }
        let Some(proc) = &self.proc else { return Ok(None) };
        let sum =
            |of: fn(&OwnedFd, u32) -> Option<u64>| -> u64 { numbers.iter().filter_map(|one| of(proc, *one)).sum() };
        if sum(|proc, one| processes::threads(proc, one)) > u64::from(limits.processes) {
            return Ok(Some(over));
        }
        let cpu: Duration = numbers.iter().filter_map(|one| processes::cpu_time(proc, *one)).sum();
        if cpu + children_cpu_time() > limits.cpu_time {
            return Ok(Some(cpu_exceeded(limits)));
        }
        let memory = limits.memory_bytes;
        let exceeds = sum(|proc, one| processes::resident_bytes(proc, one)) > memory
            && sum(|proc, one| processes::proportional_bytes(proc, one)) > memory;
        Ok(exceeds.then(|| format!("it used more than {memory} bytes of memory, its limit")))
    }
}

/// Returns the CPU time of the processes that have ended and were waited for.
fn children_cpu_time() -> Duration {
    super::launch::children_cpu_time()
}
