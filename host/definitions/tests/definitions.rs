//! Tests of the definitions crate from outside, in one test binary, so that it is linked only once.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

mod encoders;

mod schema_cost;
mod schema_gate;
