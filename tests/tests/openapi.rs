//! The shipped plugin `openapi` in a real host, against servers on the loopback address: the exact bytes of its
//! requests, its responses, changed and hostile documents, and documents that others wrote.

#![allow(clippy::disallowed_methods, reason = "tests write the documents that tools are made from")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "openapi/desk.rs"]
mod desk;

#[path = "openapi/calls.rs"]
mod calls;

#[path = "openapi/placement.rs"]
mod placement;

#[path = "openapi/bodies.rs"]
mod bodies;

#[path = "openapi/responses.rs"]
mod responses;

#[path = "openapi/selection.rs"]
mod selection;

#[path = "openapi/changed.rs"]
mod changed;

#[path = "openapi/hostile.rs"]
mod hostile;

#[path = "openapi/documents.rs"]
mod documents;
