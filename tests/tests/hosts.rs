//! Hosts with state directories of their own that share a ledger in PostgreSQL: what one begins another continues, and
//! nothing is lost or run twice when hosts, connections or the database die.

#![allow(clippy::disallowed_methods, reason = "tests look at and change what a host keeps")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "hosts/fleet.rs"]
mod fleet;

#[path = "hosts/proxy.rs"]
mod proxy;

#[path = "hosts/shared.rs"]
mod shared;

#[path = "hosts/kills.rs"]
mod kills;

#[path = "hosts/outages.rs"]
mod outages;

#[path = "hosts/clocks.rs"]
mod clocks;

#[path = "hosts/upgrade.rs"]
mod upgrade;

#[path = "hosts/anchors.rs"]
mod anchors;

#[path = "hosts/shared_rates.rs"]
mod shared_rates;

#[path = "hosts/outputs.rs"]
mod outputs;

#[path = "hosts/replicas.rs"]
mod replicas;

#[path = "hosts/continued.rs"]
mod continued;

#[path = "hosts/shared_calls.rs"]
mod shared_calls;
