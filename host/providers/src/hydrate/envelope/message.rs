//! The calls of one model message, and the parser for a call.

use crate::hydrate::cursor::{Cursor, FormFlaw};
use portcullis::BATCH_REQUESTS_MAX;
use std::borrow::Cow;

/// The error for a call that may be incomplete.
const CUT_OFF: &str = "The answer was cut off in or right after this call, so the call may be incomplete. Repeat it.";

/// The providers' stop reasons for a model that was not finished.
const CUT_OFF_REASONS: [&str; 7] =
    ["length", "max_tokens", "MAX_TOKENS", "incomplete", "content_filter", "model_length", "refusal"];

/// A call as the model wrote it.
#[derive(Debug, Default)]
pub(in crate::hydrate) struct RequestedCall<'a> {
    /// The id from the provider.
    pub(in crate::hydrate) id: Option<Cow<'a, str>>,
    /// The name of the tool.
    pub(in crate::hydrate) name: Option<Cow<'a, str>>,
    /// The arguments: the content of a string, or an object as it is written. `None` if there are none.
    pub(in crate::hydrate) arguments: Option<Cow<'a, str>>,
    /// Why it is not a call of a tool, for the model.
    pub(in crate::hydrate) flaw: Option<&'static str>,
}

/// The calls of an answer.
#[derive(Debug, Default)]
pub(in crate::hydrate) struct Message<'a> {
    pub(in crate::hydrate) calls: Vec<RequestedCall<'a>>,
    /// Number of calls, including those that are not kept.
    pub(super) count: usize,
    /// Whether the last part of the message is a call.
    pub(super) ends_in_call: bool,
    /// The indexes of the last calls of each list, if lists are out of order.
    pub(super) last_of_lists: Vec<usize>,
    /// Whether the provider says that the model was cut off.
    pub(super) cut_off: bool,
    /// Whether a place for calls was found.
    pub(super) found: bool,
}

impl<'a> Message<'a> {
    /// Adds a call. Calls beyond the maximum of a batch are only counted.
    pub(super) fn push(&mut self, asked: RequestedCall<'a>) {
        self.count += 1;
        self.ends_in_call = true;
        if self.calls.len() < BATCH_REQUESTS_MAX {
            self.calls.push(asked);
        }
    }

    /// Notes that one of several lists of calls ends here.
    pub(super) fn list_ends(&mut self) {
        self.last_of_lists.extend(self.calls.len().checked_sub(1));
    }

    /// Marks calls that may be incomplete: the last one, if the model was cut off in it or right after it.
    pub(super) fn mark_cut_off(&mut self) {
        let last = self.calls.len().checked_sub(1).filter(|_| self.ends_in_call);
        for at in self.last_of_lists.drain(..).chain(last) {
            self.calls[at].flaw = Some(CUT_OFF);
        }
    }

    /// Notes a place for calls. There must be only one. If there were two, another parser might use the other one.
    pub(super) fn found(&mut self) -> Result<(), FormFlaw> {
        match std::mem::replace(&mut self.found, true) {
            false => Ok(()),
            true => Err(FormFlaw("it has two places for calls")),
        }
    }

    /// Parses the stop reason.
    pub(super) fn stopped(&mut self, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
        let why = cursor.text(FormFlaw("its stop reason is not a string"))?;
        self.cut_off |= why.is_some_and(|why| CUT_OFF_REASONS.contains(&&*why));
        Ok(())
    }
}

/// Sets a value that is not set yet.
pub(super) fn once<T>(slot: &mut Option<T>, value: Option<T>, twice: FormFlaw) -> Result<(), FormFlaw> {
    if slot.is_some() {
        return Err(twice);
    }
    *slot = value;
    Ok(())
}

/// Parses one member of a call if the key is one of `keys`, and skips others.
pub(super) fn call_member<'a>(
    asked: &mut RequestedCall<'a>,
    keys: MemberKeys,
    key: &str,
    cursor: &mut Cursor<'a>,
) -> Result<(), FormFlaw> {
    if key == keys.id {
        once(&mut asked.id, cursor.text(FormFlaw("the id of a call is not a string"))?, FormFlaw("a call has two ids"))
    } else if key == keys.name {
        once(
            &mut asked.name,
            cursor.text(FormFlaw("the name of a call is not a string"))?,
            FormFlaw("a call has two names"),
        )
    } else if key == keys.arguments {
        once(&mut asked.arguments, Some(cursor.arguments()?), FormFlaw("a call has its arguments twice"))
    } else {
        cursor.skip().map(drop)
    }
}

/// The names of the members of a call.
#[derive(Clone, Copy)]
pub(super) struct MemberKeys {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) arguments: &'static str,
}
