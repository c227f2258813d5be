//! The library as a program embeds it: settings, requests, callbacks, streams and calls that run in the background.

#![allow(clippy::disallowed_methods, reason = "tests add and remove plugin files under a running host")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "embed/opening.rs"]
mod opening;

#[path = "embed/errors.rs"]
mod errors;

#[path = "embed/outside.rs"]
mod outside;

#[path = "embed/requests.rs"]
mod requests;

#[path = "embed/results.rs"]
mod results;

#[path = "embed/closures.rs"]
mod closures;

#[path = "embed/started.rs"]
mod started;

#[path = "embed/native_desk.rs"]
mod native_desk;

#[path = "embed/native.rs"]
mod native;

#[path = "embed/registered.rs"]
mod registered;

#[path = "embed/payloads.rs"]
mod payloads;

#[path = "embed/native_others.rs"]
mod native_others;
