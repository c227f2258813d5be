//! A cell: a process that becomes the supervisor of one program. It is prepared before the start arrives.

use super::landlock::LandlockCell;
use super::launch::{Launcher, StartedProgram};
use super::namespaces::NamespaceCell;
use super::supervise::supervise;
use super::system::{close_all_except, exit, heed_children};
use super::tier_cell::{TierCell, set_default};
use crate::message::{ProgramEvent, START_BYTES_MAX, StartDescriptors, StartRequest, receive_bytes, send, send_bytes};
use crate::tier::Tier;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{RecvFlags, SendFlags, Shutdown, shutdown};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use std::fs::File;
use std::io::{self, Read};

/// What a cell answers when it is prepared.
pub(super) const PREPARED: &[u8] = b"prepared";

/// What programs expect of every environment.
const DEFAULT_VARIABLES: [(&str, &str); 2] = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8")];

/// What a cell does when it is prepared, or could not be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CellSetup {
    /// It tells the broker.
    Reported,
    /// It waits for a start, or ends. A start then gets another cell, which may succeed.
    Spare,
    /// It takes the start that follows at once, or refuses it with the reason.
    Awaited,
}

/// Runs a cell in a process that was forked for it. Never returns.
pub(super) fn run(tier: Tier, setup: CellSetup, socket: &OwnedFd) -> ! {
    let work = || -> io::Result<()> {
        // The broker's sockets to its host and to other cells, which would stay open with this process.
        close_all_except(&[socket.as_fd()])?;
        match tier {
            Tier::Namespaces => work::<NamespaceCell>(setup, socket),
            Tier::Landlock => work::<LandlockCell>(setup, socket),
        }
    };
    exit(work().map_or(1, |()| 0))
}

fn work<T: TierCell>(setup: CellSetup, socket: &OwnedFd) -> io::Result<()> {
    heed_children()?;
    // An error is kept until there is a receiver for it: the broker, or the host whose start this cell gets.
    let prepared = T::prepare().and_then(|cell| {
        let launcher = Launcher::fork(&cell)?;
        Ok((cell, launcher))
    });
    match (setup, &prepared) {
        (CellSetup::Reported, Ok(_)) => send_bytes(socket, PREPARED, &[], SendFlags::empty())?,
        (CellSetup::Reported, Err(error)) => {
            send_bytes(socket, error.to_string().as_bytes(), &[], SendFlags::empty())?;
        }
        // No start can be sent to it from now on. One that was sent before is refused below.
        (CellSetup::Spare, Err(_)) => shutdown(socket, Shutdown::Read)?,
        (CellSetup::Spare, Ok(_)) | (CellSetup::Awaited, _) => {}
    }
    let Some((_, descriptors)) = receive_bytes(socket, RecvFlags::empty())? else { return Ok(()) };
    let incomplete = || io::Error::other("a start is incomplete");
    let descriptors = StartDescriptors::from_list(descriptors).ok_or_else(incomplete)?;
    let control = descriptors.control.try_clone()?;
    let (mut cell, launcher) = match prepared {
        Ok(prepared) => prepared,
        // Nothing runs, and there may be no scope in which anything could be killed.
        Err(error) => return refuse(&control, &error),
    };
    let (request, program) = match start(&mut cell, launcher, descriptors) {
        Ok(started) => started,
        Err(error) => {
            // The program may run already.
            let _ = cell.kill_scope().kill_everyone();
            drop(cell);
            return refuse(&control, &error);
        }
    };
    // If the host is gone, the supervisor finds the socket closed, and ends the program.
    let _ = tell_started(&control, cell.take_listener().as_ref());
    let report = supervise(&cell, &request.confinement.limits, &control, &program);
    // This removes what the tier made for the program.
    drop(cell);
    let report = report?;
    send(&control, &ProgramEvent::Ended(report), &[], SendFlags::empty())
}

/// Starts the program of a request in a prepared cell.
fn start<T: TierCell>(
    cell: &mut T,
    launcher: Launcher,
    descriptors: StartDescriptors<OwnedFd>,
) -> io::Result<(StartRequest, StartedProgram)> {
    let mut request = read(&descriptors)?;
    for (name, value) in DEFAULT_VARIABLES {
        set_default(&mut request, name, value);
    }
    cell.furnish(&mut request, &descriptors)?;
    let program = launcher.start(&request, descriptors)?;
    Ok((request, program))
}

fn refuse(control: &OwnedFd, error: &io::Error) -> io::Result<()> {
    send(control, &ProgramEvent::Refused(error.to_string()), &[], SendFlags::empty())
}

fn tell_started(control: &OwnedFd, listener: Option<&OwnedFd>) -> io::Result<()> {
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    let descriptors: Vec<BorrowedFd<'_>> = [&own].into_iter().chain(listener).map(AsFd::as_fd).collect();
    send(control, &ProgramEvent::Started, &descriptors, SendFlags::empty())
}

fn read(descriptors: &StartDescriptors<OwnedFd>) -> io::Result<StartRequest> {
    let mut bytes = Vec::new();
    File::from(descriptors.request.try_clone()?).take(START_BYTES_MAX).read_to_end(&mut bytes)?;
    let request: StartRequest = serde_json::from_slice(&bytes)?;
    // Both lists are paired by position, and `zip` would leave out the rest of the longer one.
    if request.confinement.directories.len() != descriptors.directories.len() {
        return Err(io::Error::other("a directory of the start is missing"));
    }
    Ok(request)
}
