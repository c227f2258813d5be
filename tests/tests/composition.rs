//! Tools that call tools: each inner call takes all the steps of an outer one, never has more rights than its caller,
//! and is bounded by the calls above it.

#![allow(clippy::disallowed_methods, reason = "tests look at the files that tools leave")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "composition/desk.rs"]
pub(crate) mod desk;

#[path = "composition/decisions.rs"]
mod decisions;

#[path = "composition/approvals.rs"]
mod approvals;

#[path = "composition/bounds.rs"]
mod bounds;

#[path = "composition/quotas.rs"]
mod quotas;

#[path = "composition/ending.rs"]
mod ending;

#[path = "composition/progress.rs"]
mod progress;

#[path = "composition/observed.rs"]
mod observed;

#[path = "composition/listing.rs"]
mod listing;

#[path = "composition/planned.rs"]
mod planned;

#[path = "composition/script.rs"]
mod script;

#[path = "composition/toolsets.rs"]
mod toolsets;

#[path = "composition/batch.rs"]
pub(crate) mod batch;

#[path = "composition/batch_ending.rs"]
mod batch_ending;

#[path = "composition/batch_results.rs"]
mod batch_results;
