//! Approvals: a person is asked, the answer is bound to what they saw, and it is spent by one execution.
//!
//! Every ask ends here, whether a rule, a plugin's review, a repetition or a running call caused it, and every answer
//! goes through one transaction of the ledger, whichever channel it came by. It must not know how a call is run.

mod answer;
mod ask;
mod asked;
mod asked_under;
mod attendance;
mod binding;
mod body;
mod case;
mod channel;
mod claim;
mod concern;
mod desk;
mod difference;
mod error;
mod foresee;
mod join;
mod left;
mod left_requests;
pub(crate) mod line;
mod open_limits;
mod preview;
mod principal_map;
mod recall;
mod recorded;
mod repetition;
mod rollback;
mod rolled_back;
mod shared;
mod sweep;
mod trust;
mod wait;
mod waiters;

pub use crate::approver::{Answer, Answering, Approver, Covers, DenyAll, Question, Scripted, Subject, approver_fn};
pub use crate::ledger::{LedgerError, Status};

pub use answer::Onward;
pub(crate) use answer::{NOTE_BYTES_MAX, proposals, resource_arguments};
pub(crate) use asked::{AskError, Asked, WaitingFor};
pub(crate) use asked_under::{AskedUnder, Observed};
pub(crate) use binding::Binding;
pub(crate) use case::{Case, Times};
pub(crate) use channel::Channel;
pub(crate) use claim::{Redeemed, Ticket};
pub(crate) use concern::{Asker, Concern};
pub use desk::{HeldAnswer, Listing, OpenQuestion};
pub use error::ApprovalError;
pub(crate) use foresee::Foreseen;
pub(crate) use left::LeftCall;
pub(crate) use preview::{Preview, TEXTS_BYTES_MAX as PREVIEW_TEXTS_BYTES_MAX, WritableDirectory};
pub(crate) use repetition::{Repetition, Row as RepetitionRow};
pub use rolled_back::RolledBack;
pub use shared::Approvals;
pub use trust::TrustError;
