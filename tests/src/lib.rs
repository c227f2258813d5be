//! The support library of the black-box tests: guests as text, a site with plugins, policy and state, and the
//! assertions for every attack. It uses only the host's public API.

#![allow(clippy::disallowed_methods, reason = "tests make the files, sockets and links that a host has to withstand")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod block_on;
mod bytes;

mod compiled;

mod eventually;

mod ledger_place;
mod manifest;

mod guest;

mod ran;
mod record;
mod resident;
mod site;
mod snapshot;
mod warm;
mod worker;

mod attack;

pub mod botocore;

pub mod corpus;

pub mod net;

pub use attack::{Attack, GRACE};
pub use block_on::BlockOn;
pub use bytes::{holds, renamed};
pub use compiled::user_cache;
pub use eventually::{PATIENCE, eventually, eventually_async};
pub use guest::{component, guest, guest_of, module, module_of, moved, typed, usual_contract, wit, with_fields};
pub use ledger_place::{PLACE, ledger_number, outputs_in_database, place};
pub use manifest::{Dependency, DependencyKind, Manifest, Tool};
pub use ran::Ran;
pub use record::{assert_verifies, outcome_of, outcomes};
pub use resident::{peak_of, resident, resident_of};
pub use site::{Site, allow_all, built_guest, built_guest_of, program, shipped_plugin, shipped_plugins};
pub use snapshot::{Snapshot, snapshot};
pub use warm::made_once;
pub use worker::{HeldWorker, has_exited, slow_to_compile};

include!(concat!(env!("OUT_DIR"), "/guests.rs"));
