//! The worker of the host's own program: a function of this program in a process of its own.

use super::launch::put_streams;
use super::system::{close_all_except, close_range, exit, fork, heed_children};
use crate::message::{WorkerExit, send};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::SendFlags;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, setsid, waitpid};
use std::io;

/// Forks the supervisor of a worker.
pub(super) fn start(worker: fn() -> i32, descriptors: Vec<OwnedFd>) -> io::Result<()> {
    let Ok(descriptors) = <[OwnedFd; 4]>::try_from(descriptors) else {
        return Err(io::Error::other("the start of a worker is incomplete"));
    };
    if fork()?.is_some() {
        return Ok(());
    }
    exit(supervise(worker, descriptors).map_or(1, |()| 0))
}

/// Runs the worker, and tells the host how it ended. Kills it when the host closes its end of the control socket.
fn supervise(worker: fn() -> i32, descriptors: [OwnedFd; 4]) -> io::Result<()> {
    let kept: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    close_all_except(&kept)?;
    let [control, stdin, stdout, stderr] = descriptors;
    heed_children()?;
    let Some(pid) = fork()? else { exit(run(worker, [&stdin, &stdout, &stderr]).unwrap_or(1)) };
    // A copy in this process would keep the host from seeing that the worker has closed a stream.
    drop((stdin, stdout, stderr));
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    let mut polled = [PollFd::new(&control, PollFlags::IN | PollFlags::RDHUP), PollFd::new(&process, PollFlags::IN)];
    retry_on_intr(|| poll(&mut polled, None))?;
    if !polled[0].revents().is_empty() {
        kill_process(pid, Signal::KILL)?;
    }
    let ended = wait(pid)?;
    send(&control, &ended, &[], SendFlags::empty())
}

/// Becomes the worker.
fn run(worker: fn() -> i32, streams: [&OwnedFd; 3]) -> io::Result<i32> {
    // An interrupt at the terminal goes only to the host, which ends the worker itself.
    setsid()?;
    put_streams(streams)?;
    close_range(3, u32::MAX, 0)?;
    Ok(worker())
}

fn wait(pid: Pid) -> io::Result<WorkerExit> {
    let gone = || io::Error::from(Errno::CHILD);
    let (_, status) = retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()))?.ok_or_else(gone)?;
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => WorkerExit::Code(code),
        (None, signal) => WorkerExit::Signal(signal.unwrap_or_default()),
    })
}
