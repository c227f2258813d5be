//! Runs one call, from request to reply.
//!
//! The steps are listed in the order in which they run. Each step takes a type that only the step before it creates. So
//! a call that was not validated cannot be authorized, a call that was not approved gets no handles, and a call without
//! handles cannot run.

mod answer;
mod approved;
mod authorize;
mod batch;
mod caller;
mod code;
mod decided_before;
mod decided_requests;
mod disapproval;
mod effects;
mod escalate;
mod execute;
mod foresee;
mod grant;
mod held;
mod hooks;
mod inner_calls;
mod instantiate;
mod outcome;
mod parse;
mod plan;
mod preview;
mod question;
mod rate;
mod record;
mod redecide;
mod rejection;
mod review;
mod running_answer;
mod server_question;
mod shape;
mod steps;
mod together;
mod unwanted;
mod validate;
mod verdict_text;

pub(crate) use decided_requests::DecidedRequests;
pub(crate) use foresee::explain;
pub use grant::Reach;
pub(crate) use grant::{describe_handles, missing_keys, reach, reaches_directories, read_only_key, undeclared};
pub(crate) use inner_calls::may_run;
pub(crate) use preview::preview_limits;
pub(crate) use redecide::redecide_left;
pub(crate) use rejection::Rejection;
pub(crate) use review::REVIEW_TIME_MAX;
pub(crate) use shape::{AnswerFlaw, check as check_answer};
pub(crate) use steps::{begin, broken, call, go_until, refuse};
pub(crate) use together::{together, together_boxed};
pub(crate) use validate::is_callable;
