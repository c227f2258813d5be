//! Untrusted input: arguments, schemas and names. J01 to J08, K01 to K08, S48 to S50.
//! `cargo xtask test` fetches the third-party suites.

#![allow(clippy::disallowed_methods, reason = "tests read the suites that they run")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "input/desk.rs"]
mod desk;

#[path = "input/json_suite.rs"]
mod json_suite;

#[path = "input/documents.rs"]
mod documents;

#[path = "input/one_form.rs"]
mod one_form;

#[path = "input/sizes.rs"]
mod sizes;

#[path = "input/schema_suite.rs"]
mod schema_suite;

#[path = "input/schema_reach.rs"]
mod schema_reach;

#[path = "input/mismatches.rs"]
mod mismatches;

#[path = "input/names.rs"]
mod names;
