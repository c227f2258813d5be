//! The rejection of a call that an approver did not approve.

use super::rejection::Rejection;
use crate::approvals::NOTE_BYTES_MAX;
use crate::reply::Code;
use crate::text::{OneLine, cut};
use crate::valid_call::ValidCall;

pub(super) fn disapproved(call: &ValidCall, note: Option<&str>) -> Rejection {
    let mut message = format!("The call of {} was not approved.", call.tool.name());
    if let Some(note) = note {
        message.push_str(&format!(" Note: {}", OneLine(cut(note, NOTE_BYTES_MAX))));
    }
    Rejection::new(Code::ApprovalDenied, message)
}
