//! Approval requests and approvals. An approval is bound to what the approver saw, and one execution spends it.
//!
//! Every request goes through this module, whether a rule, a reviewer, a repetition or a running call causes it. Every
//! answer goes through one transaction of the ledger, whatever channel it comes from. This module must not know how a
//! call is run.

mod anchoring;
mod answer;
mod answering;
mod approved_part;
mod ask;
mod asked;
mod asked_under;
mod attendance;
mod binding;
mod body;
mod case;
mod changes;
mod channel;
mod claim;
mod concern;
mod desk;
mod difference;
mod error;
mod foresee;
mod join;
mod kept_difference;
mod known_anchor;
mod left;
mod left_requests;
pub(crate) mod line;
mod note;
mod notify;
mod open_limits;
mod preview;
mod principal_map;
mod recall;
mod recorded;
mod repetition;
mod rollback;
mod rolled_back;
mod shared;
mod shown;
mod sweep;
mod trust;
mod wait;
mod waiters;

pub use crate::approver::{
    Answer, Answering, Approver, Covers, DenyAll, PlannedCall, Question, Scripted, Subject, approver_fn,
};
pub use crate::call_selection::{CallSelection, CallSelectionError};
#[doc(inline)]
pub use portcullis_ledger::ledger::{DatabaseError, LedgerError, Status};

pub(crate) use anchoring::AnchoringError;
pub use answer::Onward;
pub(crate) use answer::{proposals, resource_arguments};
pub(crate) use asked::{AskError, AskOutcome, WaitingFor};
pub(crate) use asked_under::{AskedUnder, Observed};
pub(crate) use binding::ApprovalBinding;
pub(crate) use case::{ApprovalCase, Times};
pub use changes::ApprovalChanges;
pub(crate) use channel::ApproverChannel;
pub(crate) use claim::{Redeemed, Ticket};
pub(crate) use concern::{Asker, Concern};
pub use desk::{HeldAnswer, Listing, OpenQuestion};
pub use error::ApprovalError;
pub(crate) use foresee::Foreseen;
pub(crate) use left::LeftCall;
pub(crate) use note::NOTE_BYTES_MAX;
pub(crate) use preview::{CallPreview, TEXTS_BYTES_MAX as PREVIEW_TEXTS_BYTES_MAX, WritableDirectory};
pub(crate) use repetition::{RepeatedCalls, Repetition, RepetitionRow};
pub use rolled_back::RolledBack;
pub use shared::Approvals;
pub use shown::{ShownAnswer, ShownDigest};
pub use trust::TrustError;
