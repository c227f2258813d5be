//! The conformance plugin in every language with the same cases, and the first steps of an author.

#![allow(clippy::disallowed_methods, reason = "tests start the program, and read what it left")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "languages/account.rs"]
mod account;
#[path = "languages/desk.rs"]
mod desk;
#[path = "languages/examples.rs"]
mod examples;
#[path = "languages/generated.rs"]
mod generated;
#[path = "languages/memory.rs"]
mod memory;
#[path = "languages/packages.rs"]
mod packages;
#[path = "languages/prepared.rs"]
mod prepared;
#[path = "languages/programs.rs"]
mod programs;
#[path = "languages/python.rs"]
mod python;
#[path = "languages/row.rs"]
mod row;
#[path = "languages/sessions.rs"]
mod sessions;
#[path = "languages/shape.rs"]
mod shape;
#[path = "languages/sqlite.rs"]
mod sqlite;
#[path = "languages/strangers.rs"]
mod strangers;
#[path = "languages/surface.rs"]
mod surface;
#[path = "languages/table.rs"]
mod table;
#[path = "languages/templates.rs"]
mod templates;
#[path = "languages/toolset.rs"]
mod toolset;
#[path = "languages/units.rs"]
mod units;
#[path = "languages/writing.rs"]
mod writing;
