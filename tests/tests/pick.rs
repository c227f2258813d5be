//! Tool search in a catalog of a thousand third-party tools: queries, and how often the right tool is among the first
//! results.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "pick/catalog.rs"]
mod catalog;

#[path = "pick/queries.rs"]
mod queries;

#[path = "pick/recall.rs"]
mod recall;

#[path = "pick/held_out.rs"]
mod held_out;
