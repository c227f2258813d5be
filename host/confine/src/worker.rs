//! The broker: a process with one thread, which starts the programs.
//!
//! It keeps prepared cells. A cell is a process with everything around it that does not depend on the program, and a
//! second process that waits to become the program. A start then takes only what is its own. More cells are prepared
//! when the program has ended or has run for a while, because both would wait for the same locks of the kernel.

mod cell;
mod cpu_meter;
mod kill_scope;
mod landlock;
mod launch;
mod namespaces;
mod own_calls;
mod own_worker;
mod privileges;
mod processes;
mod supervise;
mod system;
mod system_calls;
mod tier_cell;
mod view;

use crate::message::{START_WORKER, receive_bytes, send, send_bytes, socket_pair};
use crate::tier::{Tier, TierReport};
use cell::CellSetup;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags};
use std::collections::VecDeque;
use std::io;

/// The only argument of a program that becomes the broker.
pub const BROKER_ARGUMENT: &str = "portcullis-confine-broker";

/// The number of prepared cells. With one, a start right after another one waits until a cell is prepared.
const SPARE_CELLS: usize = 2;

/// How long a program may run before more cells are prepared. A start takes about a millisecond, and twice that while
/// another cell is prepared.
const PREPARE_AFTER: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// Runs the broker until its host ends. Its stdin is the socket to the host. Returns the exit code.
///
/// It must run before the process starts a thread.
///
/// `worker` is what [`Broker::start_worker`](crate::Broker::start_worker) runs. It has the standard streams of its
/// starter, and returns its exit code.
pub fn broker_main(worker: fn() -> i32) -> i32 {
    let work = || -> io::Result<()> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        // A child that has ended disappears by itself. Each cell changes this back.
        system::ignore_children()?;
        system::outer_user();
        Workbench::new(socket)?.serve(worker)
    };
    work().map_or(1, |()| 0)
}

struct Workbench {
    host: OwnedFd,
    /// None if the machine cannot confine programs. The host has the reasons, and starts none.
    tier: Option<Tier>,
    /// The sockets to the prepared cells, the oldest first.
    spares: VecDeque<OwnedFd>,
    /// The socket to the cell that was started last, until more cells are prepared.
    started: Option<OwnedFd>,
}

impl Workbench {
    /// Finds the tier of this machine by preparing a cell of each, and tells the host.
    fn new(host: OwnedFd) -> io::Result<Self> {
        let mut report = TierReport { tier: None, no_namespaces: None, no_landlock: None };
        let mut spares = VecDeque::new();
        for (tier, why) in [(Tier::Namespaces, &mut report.no_namespaces), (Tier::Landlock, &mut report.no_landlock)] {
            match Self::checked(tier) {
                Ok(cell) => {
                    report.tier = Some(tier);
                    spares.push_back(cell);
                    break;
                }
                Err(error) => *why = Some(error.to_string()),
            }
        }
        send(&host, &report, &[], SendFlags::empty())?;
        Ok(Self { host, tier: report.tier, spares, started: None })
    }

    /// Prepares a cell, and waits until it is prepared.
    fn checked(tier: Tier) -> io::Result<OwnedFd> {
        let cell = prepare(tier, CellSetup::Reported)?;
        match receive_bytes(&cell, RecvFlags::empty())? {
            Some((message, _)) if message == cell::PREPARED => Ok(cell),
            Some((message, _)) => Err(io::Error::other(String::from_utf8_lossy(&message).into_owned())),
            None => Err(io::Error::other("a process with the confinement ended at once")),
        }
    }

    /// Passes each start to a cell.
    fn serve(mut self, worker: fn() -> i32) -> io::Result<()> {
        loop {
            let is_hurried = self.prepare_more()?;
            let Some((message, descriptors)) = receive_bytes(&self.host, RecvFlags::empty())? else { return Ok(()) };
            if message == START_WORKER {
                // If there is no process for it, the host sees the control socket close.
                let _ = own_worker::start(worker, descriptors);
                continue;
            }
            let Some(tier) = self.tier else { continue };
            let descriptors: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
            let start = |cell: OwnedFd| {
                let sent = send_bytes(&cell, &message, &descriptors, SendFlags::empty());
                sent.is_ok().then_some(cell)
            };
            // The spare cell may have ended or been killed meanwhile, so a start gets a second chance. If no cell can
            // be made, the host sees the control socket close.
            let started = self.spares.pop_front().and_then(start);
            self.started = started.or_else(|| prepare(tier, CellSetup::Awaited).ok().and_then(start));
            if is_hurried && self.spares.is_empty() {
                // The next start will probably come before this program ends.
                self.spares.extend(prepare(tier, CellSetup::Spare));
            }
        }
    }

    /// Prepares cells for those that were started, once the last program has ended or has run for a while. Returns
    /// whether the host sent something before that.
    fn prepare_more(&mut self) -> io::Result<bool> {
        let (Some(tier), Some(started)) = (self.tier, &self.started) else { return Ok(false) };
        // The socket of a cell closes when its program has ended.
        if self.has_message(Some(started), PREPARE_AFTER)? {
            return Ok(true);
        }
        self.started = None;
        while self.spares.len() < SPARE_CELLS
            && let Ok(cell) = prepare(tier, CellSetup::Spare)
        {
            self.spares.push_back(cell);
            // A start that has arrived does not wait for the other cells.
            if self.has_message(None, Timespec::default())? {
                break;
            }
        }
        Ok(false)
    }

    /// Waits until the host sends something, a program ends, or the time passes. Returns whether the host sent
    /// something.
    fn has_message(&self, program: Option<&OwnedFd>, most: Timespec) -> io::Result<bool> {
        let readable = |socket| PollFd::new(socket, PollFlags::IN);
        let mut polled: Vec<PollFd<'_>> = [&self.host].into_iter().chain(program).map(readable).collect();
        retry_on_intr(|| poll(&mut polled, Some(&most)))?;
        Ok(polled.first().is_some_and(|host| !host.revents().is_empty()))
    }
}

/// Forks a cell. Returns the socket that takes its start.
fn prepare(tier: Tier, setup: CellSetup) -> io::Result<OwnedFd> {
    let (ours, theirs) = socket_pair()?;
    let forked = match tier {
        Tier::Namespaces => namespaces::fork(),
        Tier::Landlock => system::fork(),
    };
    match forked.map_err(|errno: Errno| io::Error::from(errno))? {
        Some(_) => Ok(ours),
        None => {
            drop(ours);
            cell::run(tier, setup, &theirs)
        }
    }
}

pub(crate) use own_calls::own_filters;

/// Leaves this process, which has one thread, only what it needs to compute with the streams that it has: memory,
/// threads and time. From now on it cannot open a file, make a socket, start a program or signal another process.
///
/// # Errors
/// The kernel has no filters.
pub fn only_compute() -> io::Result<()> {
    for filter in &own_calls::computing_filters()? {
        // This sets `no_new_privs` too.
        seccompiler::apply_filter(filter).map_err(|error| io::Error::other(error.to_string()))?;
    }
    Ok(())
}

/// Restricts this process to one directory by the Landlock rules of a program, for tests of these rules. The filters of
/// a program refuse most of the same before Landlock sees it, so they are not applied.
///
/// # Errors
/// The kernel has no Landlock, or too old a version.
pub fn only_landlock(directory: &std::path::Path) -> io::Result<()> {
    landlock::restrict_to(directory)
}

/// Refuses this process the system calls that make namespaces, for tests of what a container allows.
///
/// # Errors
/// The kernel has no filters.
pub fn refuse_namespaces() -> io::Result<()> {
    let filter = system_calls::namespaces_filter()?;
    seccompiler::apply_filter(&filter).map_err(|error| io::Error::other(error.to_string()))
}
