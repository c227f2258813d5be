//! Dependency injection: values that an application provides once per call, and services that plugins can use as the
//! policy allows.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "services/desk.rs"]
mod desk;

#[path = "services/provide.rs"]
mod provide;

#[path = "services/cycles.rs"]
mod cycles;

#[path = "services/overrides.rs"]
mod overrides;

#[path = "services/errors.rs"]
mod errors;

#[path = "services/limits.rs"]
mod limits;

#[path = "services/ending.rs"]
mod ending;

#[path = "services/record.rs"]
mod record;
