//! Watches a program until it ends, reaches a limit, or its host closes the control socket.

use super::cpu_meter::CpuMeter;
use super::kill_scope::KillScope;
use super::launch::StartedProgram;
use super::processes::{ProcessStat, open_proc, proportional_bytes, resident_bytes};
use super::system::children_cpu_time;
use super::tier_cell::TierCell;
use crate::confinement::ConfinementLimits;
use crate::exit::{ProgramExit, ProgramReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
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

/// Maximum time to kill the remaining processes of a program. Each round kills all that exist.
const KILL_TIME_MAX: Duration = Duration::from_secs(10);

/// The wait between two rounds.
const KILL_AGAIN_AFTER: Duration = Duration::from_micros(200);

/// Watches a program until nothing of it is left. Whatever fails, what is left is killed.
pub(super) fn supervise<T: TierCell>(
    cell: &T,
    limits: &ConfinementLimits,
    control: &OwnedFd,
    program: &StartedProgram,
) -> io::Result<ProgramReport> {
    let began = Instant::now();
    let mut reaped = Reaped { program: program.pid, status: None };
    let mut meter = CpuMeter::default();
    let watched = watch(cell, limits, control, program, (&mut reaped, &mut meter));
    end(cell.kill_scope(), &mut reaped)?;
    let Watched { stopped, left } = watched?;
    let (wall, cpu) = (began.elapsed(), meter.look(&[], children_cpu_time()));
    let exit = match (stopped, reaped.status) {
        (Some(why), _) => ProgramExit::Stopped(why),
        (None, Some(status)) => exit_of(status, cpu, limits),
        (None, None) => return Err(io::Error::other("the program vanished")),
    };
    Ok(ProgramReport { exit, wall, cpu, left_processes: u32::try_from(left).unwrap_or(u32::MAX) })
}

/// Why a program is watched no longer.
struct Watched {
    /// Why it must be stopped. None if it has ended by itself.
    stopped: Option<String>,
    /// The processes that it left when it ended by itself.
    left: usize,
}

/// Waits until the program has ended or must be stopped.
fn watch<T: TierCell>(
    cell: &T,
    limits: &ConfinementLimits,
    control: &OwnedFd,
    program: &StartedProgram,
    (reaped, meter): (&mut Reaped, &mut CpuMeter),
) -> io::Result<Watched> {
    let (began, proc) = (Instant::now(), open_proc()?);
    let stop = |why: String| Ok(Watched { stopped: Some(why), left: 0 });
    loop {
        let (past, every) = (began.elapsed(), if began.elapsed() < LATER { WATCH_EVERY } else { WATCH_LATER_EVERY });
        if is_released(control, &program.process, every.min(limits.time.saturating_sub(past)))? {
            return stop("the host ended it".to_owned());
        }
        reaped.reap();
        // Before the limits, so that a program that has ended by itself is not reported as stopped.
        if reaped.status.is_some() {
            return Ok(Watched { stopped: None, left: cell.processes(&proc)?.len() });
        }
        if began.elapsed() >= limits.time {
            return stop(format!("it ran longer than {} s, its limit of time", limits.time.as_secs_f64()));
        }
        if let Some(why) = exceeded(&proc, &cell.processes(&proc)?, limits, meter) {
            return stop(why);
        }
    }
}

/// Waits until the program ends, the host closes its end of the control socket, or the time passes. Returns whether the
/// host closed it.
fn is_released(control: &OwnedFd, program: &OwnedFd, most: Duration) -> io::Result<bool> {
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    let mut polled = [PollFd::new(control, PollFlags::IN | PollFlags::RDHUP), PollFd::new(program, PollFlags::IN)];
    match poll(&mut polled, Some(&most)) {
        // The host sends nothing on this socket, so any event means that it has closed its end.
        Ok(_) | Err(Errno::INTR) => Ok(!polled[0].revents().is_empty()),
        Err(error) => Err(error.into()),
    }
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
fn end(scope: &KillScope, reaped: &mut Reaped) -> io::Result<()> {
    let began = Instant::now();
    loop {
        // It fails if there is no process left.
        let _ = scope.kill_everyone();
        if !reaped.reap() {
            return Ok(());
        }
        if began.elapsed() > KILL_TIME_MAX {
            return Err(io::Error::other("a process of the program cannot be killed"));
        }
        std::thread::sleep(KILL_AGAIN_AFTER);
    }
}

fn exit_of(status: WaitStatus, cpu: Duration, limits: &ConfinementLimits) -> ProgramExit {
    if let Some(code) = status.exit_status() {
        return ProgramExit::Code(u8::try_from(code).unwrap_or(u8::MAX));
    }
    let signal = status.terminating_signal().unwrap_or_default();
    // The kernel's own limit of one process may come first, if this process was not scheduled for a while. A program
    // that ignores SIGXCPU gets SIGKILL, which may also have another reason.
    if signal == libc::SIGXCPU || signal == libc::SIGKILL && cpu > limits.cpu_time {
        return ProgramExit::Stopped(cpu_exceeded(limits));
    }
    ProgramExit::Signal(u8::try_from(signal).unwrap_or(u8::MAX))
}

fn cpu_exceeded(limits: &ConfinementLimits) -> String {
    format!("it computed longer than {} s, its limit of CPU time", limits.cpu_time.as_secs_f64())
}

/// Returns which limit the processes of a program exceed.
fn exceeded(proc: &OwnedFd, numbers: &[u32], limits: &ConfinementLimits, meter: &mut CpuMeter) -> Option<String> {
    let stats: Vec<ProcessStat> = numbers.iter().filter_map(|one| ProcessStat::read(proc, *one)).collect();
    // A process that cannot be read any more still counts as one.
    let threads = stats.iter().map(|stat| stat.threads).sum::<u64>().max(numbers.len() as u64);
    if threads > u64::from(limits.processes) {
        return Some(format!("it had more than {} processes and threads, its limit", limits.processes));
    }
    if meter.look(&stats, children_cpu_time()) > limits.cpu_time {
        return Some(cpu_exceeded(limits));
    }
    let sum = |of: fn(&OwnedFd, u32) -> Option<u64>| -> u64 { numbers.iter().filter_map(|one| of(proc, *one)).sum() };
    let memory = limits.memory_bytes;
    let exceeds = sum(resident_bytes) > memory && sum(proportional_bytes) > memory;
    exceeds.then(|| format!("it used more than {memory} bytes of memory, its limit"))
}
