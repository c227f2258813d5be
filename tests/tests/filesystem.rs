//! Attacks on granted directories: the F rows of the threat model, against a read-write grant, a read-only grant, and a
//! read-write grant of a tool that declares only `read`.
//!
//! The attacker is the guest `probe`, which performs the steps that a test gives it. `Lab` holds the files under
//! attack.

#![allow(clippy::disallowed_methods, reason = "tests make the files, links and pipes that a host has to withstand")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "filesystem/lab.rs"]
mod lab;

#[path = "filesystem/escape.rs"]
mod escape;

#[path = "filesystem/race.rs"]
mod race;

#[path = "filesystem/rights.rs"]
mod rights;

#[path = "filesystem/kinds.rs"]
mod kinds;

#[path = "filesystem/masks.rs"]
mod masks;

#[path = "filesystem/mask_files.rs"]
mod mask_files;

#[path = "filesystem/quota.rs"]
mod quota;

#[path = "filesystem/grants.rs"]
mod grants;

#[path = "filesystem/semantics.rs"]
mod semantics;

#[path = "filesystem/narrow.rs"]
mod narrow;

#[path = "filesystem/narrow_inside.rs"]
mod narrow_inside;

#[path = "filesystem/narrow_links.rs"]
mod narrow_links;

#[path = "filesystem/narrow_files.rs"]
mod narrow_files;

#[path = "filesystem/unsearched_files.rs"]
mod unsearched_files;
