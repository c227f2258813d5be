//! The tools of plugin authors: `portcullis test`, the level in `portcullis check`, `portcullis bench` and
//! `portcullis dev`, each through the program itself.

#![allow(clippy::disallowed_methods, reason = "tests start the program and lay out its files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "author/bench.rs"]
mod bench;

#[path = "author/cases.rs"]
mod cases;

#[path = "author/malformed.rs"]
mod malformed;

#[path = "author/bounds.rs"]
mod bounds;

#[path = "author/levels.rs"]
mod levels;

#[path = "author/measured.rs"]
mod measured;

#[path = "author/dev.rs"]
mod dev;
