//! Reloading the plugin directory and the policy: files that are added, replaced and removed, what must not change
//! because of a reload, and bad files, which must not affect anything that works.

#![allow(clippy::disallowed_methods, reason = "tests put files where a host has to find them")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "reload/desk.rs"]
mod desk;

#[path = "reload/pausing.rs"]
mod pausing;

#[path = "reload/files.rs"]
mod files;

#[path = "reload/refusals.rs"]
mod refusals;

#[path = "reload/calls.rs"]
mod calls;

#[path = "reload/load.rs"]
mod load;

#[path = "reload/grants.rs"]
mod grants;

#[path = "reload/watching.rs"]
mod watching;

#[path = "reload/policy.rs"]
pub(crate) mod policy;

#[path = "reload/background.rs"]
mod background;

#[path = "reload/waiting.rs"]
mod waiting;

#[path = "reload/left.rs"]
mod left;

#[path = "reload/descriptions.rs"]
mod descriptions;
