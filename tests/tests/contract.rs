//! Several versions of the contract in one host, under one policy, without confusion between them.

#![allow(clippy::disallowed_methods, reason = "tests make the files that a host serves")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "contract/beside.rs"]
mod beside;

#[path = "contract/mixed.rs"]
mod mixed;

#[path = "contract/second.rs"]
mod second;

#[path = "contract/written.rs"]
mod written;
