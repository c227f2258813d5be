//! LangChain's AIMessage: `tool_calls[].{name, args, id}`, with calls that LangChain could not parse in
//! `invalid_tool_calls`. The message may be dumped, written by `message_to_dict` (under `data`), or written by `dumps`
//! (under `kwargs`).

use super::message::{MemberKeys, Message, RequestedCall, call_member, once};
use crate::hydrate::cursor::{Cursor, FormFlaw};

const CALL: MemberKeys = MemberKeys { id: "id", name: "name", arguments: "args" };

pub(super) fn read<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'[' {
        return calls(message, cursor);
    }
    let (mut lists, mut is_message) = (Lists::default(), false);
    cursor.members(FormFlaw("it is neither an object nor a list"), |key, cursor| match key {
        "data" | "kwargs" if cursor.peek() == b'{' => {
            message.found()?;
            let mut lists = Lists::default();
            let what = FormFlaw("its message is not an object");
            cursor.members(what, |key, cursor| member(message, &mut lists, key, cursor))
        }
        "content" if matches!(cursor.peek(), b'"' | b'[') => {
            is_message = true;
            cursor.skip().map(drop)
        }
        _ => member(message, &mut lists, key, cursor),
    })?;
    let own = is_message || lists.calls.is_some() || lists.invalid.is_some();
    match (message.found, own) {
        (true, true) => Err(FormFlaw("it has two places for calls")),
        (false, false) => Err(FormFlaw("it is not a message")),
        (true, false) | (false, true) => Ok(()),
    }
}

/// The lists that were found.
#[derive(Default)]
struct Lists {
    calls: Option<()>,
    invalid: Option<()>,
}

fn member<'a>(
    message: &mut Message<'a>,
    lists: &mut Lists,
    key: &str,
    cursor: &mut Cursor<'a>,
) -> Result<(), FormFlaw> {
    let list = match key {
        "tool_calls" => &mut lists.calls,
        "invalid_tool_calls" => &mut lists.invalid,
        "response_metadata" if cursor.peek() == b'{' => {
            return cursor.members(FormFlaw("its metadata is not an object"), |key, cursor| match key {
                "finish_reason" | "stop_reason" | "done_reason" => message.stopped(cursor),
                _ => cursor.skip().map(drop),
            });
        }
        _ => {
            return cursor.skip().map(drop);
        }
    };
    once(list, Some(()), FormFlaw("its message has two lists of calls"))?;
    if cursor.peek() == b'n' {
        return cursor.skip().map(drop);
    }
    calls(message, cursor)?;
    // The lists do not tell which call was the last one, so the last one of each may be incomplete.
    message.list_ends();
    Ok(())
}

fn calls<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    cursor.items(FormFlaw("its calls are not a list"), |cursor| {
        let mut asked = RequestedCall::default();
        cursor
            .members(FormFlaw("a call is not an object"), |key, cursor| call_member(&mut asked, CALL, key, cursor))?;
        message.push(asked);
        Ok(())
    })
}
