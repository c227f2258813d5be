//! Instances that live for a session: what continues between two calls, what never does, and what ends an instance.
//!
//! The guest `keeper` remembers what earlier calls did, and tries to use what they were given.

#![allow(clippy::disallowed_methods, reason = "tests make and read the files that a guest may see")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "instances/desk.rs"]
mod desk;

#[path = "instances/handles.rs"]
mod handles;

#[path = "instances/lifetime.rs"]
mod lifetime;

#[path = "instances/places.rs"]
mod places;
