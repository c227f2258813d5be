//! Calls the tools of the web plugin as a host does, with a server that the test plays.

#![allow(clippy::disallowed_methods, reason = "tests read pages that others wrote")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod answers;
mod exchange;
mod hidden;
mod pages;
mod plugin;
mod review;
mod search;
mod search_failures;
mod shapes;

mod web;
