//! The scope of a cell's signals: the proof that every process that the cell can kill belongs to its program.

use crate::landlock_rules::NO_LANDLOCK;
use landlock::{CompatLevel, Compatible, RestrictionStatus, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::process::{Pid, Signal, getpid, kill_process_group};
use std::io;

/// The proof that this process can signal only the processes of its own program. Outside of a scope, one signal to
/// everyone would end all processes of the user, the host included. So only this type sends it.
pub(super) struct KillScope(());

impl KillScope {
    /// Returns the scope of a cell in a process namespace of its own: all other processes of the namespace.
    pub(super) fn of_namespace() -> io::Result<Self> {
        // A cell is forked by the broker, so it has the number 1 only as the first process of a new namespace.
        if !getpid().is_init() {
            return Err(io::Error::other("the process has no process namespace of its own"));
        }
        Ok(Self(()))
    }

    /// Limits the processes that this process may signal to those that it starts. One call can then kill all of them,
    /// and no process escapes it by forking. Killing one after the other would lose the race against a program that
    /// forks without end.
    pub(super) fn of_signals() -> io::Result<Self> {
        let restrict = || -> Result<RestrictionStatus, landlock::RulesetError> {
            Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .scope(Scope::Signal)?
                .create()?
                .restrict_self()
        };
        match restrict() {
            Ok(status) if status.ruleset == RulesetStatus::FullyEnforced => Ok(Self(())),
            Ok(_) => Err(io::Error::other(NO_LANDLOCK)),
            Err(error) => Err(io::Error::other(format!("{NO_LANDLOCK}: {error}"))),
        }
    }

    /// Kills every process of the scope besides this one. Fails if there is none.
    pub(super) fn kill_everyone(&self) -> io::Result<()> {
        // The group of number 1 means all processes that this process may signal, kill(2).
        Ok(kill_process_group(Pid::INIT, Signal::KILL)?)
    }
}
