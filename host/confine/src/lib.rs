//! Starts a program that the operating system confines. It sees the directories that it is given and a read-only
//! system. It has no network, and it ends with everything that it started.
//!
//! [`Broker::start`] starts a small process with one thread, which starts the programs. A process with many threads
//! cannot set up a confinement between `fork` and `exec`, and a process that confines itself may not start programs at
//! all. The broker does both, because it is single-threaded and began before.
//!
//! This crate must not know what a tool, a call or a policy is.

#[cfg(target_os = "linux")]
mod broker;
mod confinement;
mod error;
mod exit;
#[cfg(target_os = "linux")]
mod landlock_rules;
#[cfg(target_os = "linux")]
mod message;
#[cfg(target_os = "linux")]
mod own_rights;
#[cfg(target_os = "linux")]
mod path_bytes;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod running;
mod tier;
#[cfg(target_os = "linux")]
mod worker;

#[cfg(target_os = "linux")]
pub use broker::{Broker, BrokerProgram, ProgramStart};
pub use confinement::{
    Confinement, ConfinementLimits, Masked, MaskedPath, PROXY_PORT, ProgramNetwork, ViewAccess, ViewDirectory,
};
pub use error::ConfineError;
pub use exit::{ProgramExit, ProgramReport};
#[cfg(target_os = "linux")]
pub use message::WorkerExit;
#[cfg(target_os = "linux")]
pub use own_rights::{OwnRights, can_restrict_own_process, restrict_own_process};
#[cfg(target_os = "linux")]
pub use program::{OpenProgram, path_of};
#[cfg(target_os = "linux")]
pub use running::{RunningProgram, RunningWorker, StandardStreams, StartingProgram};
pub use tier::{Tier, TierReport};
#[cfg(target_os = "linux")]
pub use worker::{BROKER_ARGUMENT, broker_main, only_compute, only_landlock, refuse_namespaces};
