//! A program that the policy names, and everything that it starts.
//!
//! The program leads its own process group. Dropping the group kills what is left of it. It does not kill a process
//! that leaves the group, as a daemon does with `setsid`.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::time::Duration;
use tokio::process::Child;
use tokio::time::sleep;

/// How often the host checks whether the program has ended. It ends once, so this costs little.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The process group of a program that was not reaped yet. Dropping this kills the rest of the group. Declare it after
/// the child, so that the group is killed before the process number can be reused.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Pid,
}

impl ProcessGroup {
    /// Takes the group that a child leads.
    ///
    /// # Errors
    /// The child was reaped.
    pub fn of(child: &Child) -> io::Result<Self> {
        let number = child.id().and_then(|number| i32::try_from(number).ok());
        let leader = number.and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { leader })
    }

    /// Waits until the program has ended. Leaves its exit status, so that no other process can get its number.
    ///
    /// # Errors
    /// The system cannot tell.
    pub async fn leader_ended(&self) -> io::Result<()> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        loop {
            let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.leader), options));
            if ended?.is_some() {
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // This fails if the group is empty.
        let _ = kill_process_group(self.leader, Signal::KILL);
    }
}
