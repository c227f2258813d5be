//! What a model asks for in one message, and how a call is read.

use crate::hydrate::cursor::{Cursor, FormFlaw};
use portcullis::BATCH_REQUESTS_MAX;
use std::borrow::Cow;

/// What is said of a call that may be half of one.
const CUT_OFF: &str = "The answer was cut off in this call or right after it, so it may be incomplete: make it again.";

/// Why a model stopped, in the words of the providers, where it had more to say.
const CUT_OFF_REASONS: [&str; 7] =
    ["length", "max_tokens", "MAX_TOKENS", "incomplete", "content_filter", "model_length", "refusal"];

/// What a model asks for, in its own words.
#[derive(Debug, Default)]
pub(in crate::hydrate) struct RequestedCall<'a> {
    /// The id of the provider.
    pub(in crate::hydrate) id: Option<Cow<'a, str>>,
    /// The name of the tool.
    pub(in crate::hydrate) name: Option<Cow<'a, str>>,
    /// The arguments: what a string holds, or an object as it is written; nothing where there are none.
    pub(in crate::hydrate) arguments: Option<Cow<'a, str>>,
    /// Why it is no call of a tool, for the model.
    pub(in crate::hydrate) flaw: Option<&'static str>,
}

/// The calls of an answer.
#[derive(Debug, Default)]
pub(in crate::hydrate) struct Message<'a> {
    pub(in crate::hydrate) calls: Vec<RequestedCall<'a>>,
    /// How many there are, those included that are too many to be kept.
    pub(super) count: usize,
    /// Whether the last part of the message is a call.
    pub(super) ends_in_call: bool,
    /// The places of calls that are the last of a list, where lists are out of order.
    pub(super) last_of_lists: Vec<usize>,
    /// Whether the provider says that the model was cut off.
    pub(super) cut_off: bool,
    /// Whether there was something that calls stand in.
    pub(super) found: bool,
}

impl<'a> Message<'a> {
    /// Takes a call. Only as many are kept as are made: the others are counted.
    pub(super) fn push(&mut self, asked: RequestedCall<'a>) {
        self.count += 1;
        self.ends_in_call = true;
        if self.calls.len() < BATCH_REQUESTS_MAX {
            self.calls.push(asked);
        }
    }

    /// Notes that a list of calls ends here, of several.
    pub(super) fn list_ends(&mut self) {
        self.last_of_lists.extend(self.calls.len().checked_sub(1));
    }

    /// Marks what may be half of a call: the last one, where the model was cut off in it or right after it.
    pub(super) fn mark_cut_off(&mut self) {
        let last = self.calls.len().checked_sub(1).filter(|_| self.ends_in_call);
        for at in self.last_of_lists.drain(..).chain(last) {
            self.calls[at].flaw = Some(CUT_OFF);
        }
    }

    /// Notes that the calls stand here. They stand in one place: were they read from the first of two, whoever reads
    /// the other would see others.
    pub(super) fn found(&mut self) -> Result<(), FormFlaw> {
        match std::mem::replace(&mut self.found, true) {
            false => Ok(()),
            true => Err(FormFlaw("calls could stand in two places of it")),
        }
    }

    /// Notes why the model stopped.
    pub(super) fn stopped(&mut self, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
        let why = cursor.text(FormFlaw("the reason why it ends is no string"))?;
        self.cut_off |= why.is_some_and(|why| CUT_OFF_REASONS.contains(&&*why));
        Ok(())
    }
}

/// Puts a value where there is none yet.
pub(super) fn once<T>(slot: &mut Option<T>, value: Option<T>, twice: FormFlaw) -> Result<(), FormFlaw> {
    if slot.is_some() {
        return Err(twice);
    }
    *slot = value;
    Ok(())
}

/// Goes past one member of a call that the key is of, if it is one.
pub(super) fn call_member<'a>(
    asked: &mut RequestedCall<'a>,
    keys: MemberKeys,
    key: &str,
    cursor: &mut Cursor<'a>,
) -> Result<(), FormFlaw> {
    if key == keys.id {
        once(&mut asked.id, cursor.text(FormFlaw("the id of a call is no string"))?, FormFlaw("a call has two ids"))
    } else if key == keys.name {
        once(
            &mut asked.name,
            cursor.text(FormFlaw("the name of a call is no string"))?,
            FormFlaw("a call has two names"),
        )
    } else if key == keys.arguments {
        once(&mut asked.arguments, Some(cursor.arguments()?), FormFlaw("a call has its arguments twice"))
    } else {
        cursor.skip().map(drop)
    }
}

/// What the members of a call are called.
#[derive(Clone, Copy)]
pub(super) struct MemberKeys {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) arguments: &'static str,
}
