//! Outputs that are too large to be passed on: they are written while the tool runs, kept, and read in pages.

#![allow(clippy::disallowed_methods, reason = "tests make the files that a tool works on")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "outputs/stream.rs"]
mod stream;

#[path = "outputs/desk.rs"]
pub(crate) mod desk;

#[path = "outputs/cut.rs"]
mod cut;

#[path = "outputs/grep.rs"]
mod grep;

#[path = "outputs/held.rs"]
mod held;

#[path = "outputs/media.rs"]
mod media;

#[path = "outputs/names.rs"]
mod names;

#[path = "outputs/whose.rs"]
mod whose;

#[path = "outputs/room.rs"]
mod room;
