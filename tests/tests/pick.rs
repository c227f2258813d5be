//! Choosing among a thousand tools that others described: what is asked of the catalog, and how often the tool that
//! answers is among the first.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "pick/catalog.rs"]
mod catalog;

#[path = "pick/queries.rs"]
mod queries;

#[path = "pick/recall.rs"]
mod recall;

#[path = "pick/held_out.rs"]
mod held_out;
