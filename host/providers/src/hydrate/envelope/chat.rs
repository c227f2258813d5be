//! Chat completions, as OpenAI, Mistral and Ollama write them:
//! `choices[0].message.tool_calls[].function.{name, arguments}`, and with Ollama `message` alone.

use super::message::{MemberKeys, Message, RequestedCall, call_member, once};
use crate::hydrate::cursor::{Cursor, FormFlaw};

/// The members of `function`. The id is next to it.
const FUNCTION: MemberKeys = MemberKeys { id: "", name: "name", arguments: "arguments" };

pub(super) fn read<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'[' {
        return calls(message, cursor);
    }
    let mut is_message = false;
    cursor.members(FormFlaw("it is neither an object nor a list"), |key, cursor| match key {
        "choices" => {
            message.found()?;
            choices(message, cursor)
        }
        "message" => {
            message.found()?;
            self::message(message, cursor)
        }
        "tool_calls" => {
            message.found()?;
            optional_calls(message, cursor)
        }
        "done_reason" | "finish_reason" => message.stopped(cursor),
        // A message with a role and without calls is an answer of text.
        "role" => {
            is_message = true;
            cursor.skip().map(drop)
        }
        _ => cursor.skip().map(drop),
    })?;
    match message.found || is_message {
        true => Ok(()),
        false => Err(FormFlaw("it has neither choices nor a message")),
    }
}

fn choices<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    let mut count = 0;
    cursor.items(FormFlaw("its choices are not a list"), |cursor| {
        count += 1;
        if count > 1 {
            return Err(FormFlaw("it has several choices; choose one first"));
        }
        let mut has_message = None;
        cursor.members(FormFlaw("its choice is not an object"), |key, cursor| match key {
            "message" => {
                once(&mut has_message, Some(()), FormFlaw("its choice has two messages"))?;
                self::message(message, cursor)
            }
            "finish_reason" => message.stopped(cursor),
            _ => cursor.skip().map(drop),
        })?;
        has_message.ok_or(FormFlaw("its choice has no message"))
    })?;
    match count {
        0 => Err(FormFlaw("it has no choice")),
        _ => Ok(()),
    }
}

fn message<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    let mut has_calls = None;
    cursor.members(FormFlaw("its message is not an object"), |key, cursor| match key {
        "tool_calls" => {
            once(&mut has_calls, Some(()), FormFlaw("its message has two lists of calls"))?;
            optional_calls(message, cursor)
        }
        _ => cursor.skip().map(drop),
    })
}

fn optional_calls<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'n' {
        return cursor.skip().map(drop);
    }
    calls(message, cursor)
}

fn calls<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    cursor.items(FormFlaw("its calls are not a list"), |cursor| {
        let mut asked = RequestedCall::default();
        let mut has_function = None;
        cursor.members(FormFlaw("a call is not an object"), |key, cursor| match key {
            "id" => once(
                &mut asked.id,
                cursor.text(FormFlaw("the id of a call is not a string"))?,
                FormFlaw("a call has two ids"),
            ),
            "function" => {
                once(&mut has_function, Some(()), FormFlaw("a call has two functions"))?;
                let what = FormFlaw("the function of a call is not an object");
                cursor.members(what, |key, cursor| call_member(&mut asked, FUNCTION, key, cursor))
            }
            _ => cursor.skip().map(drop),
        })?;
        if has_function.is_none() {
            asked.flaw = Some("This is not a function call. Call one of the offered functions.");
        }
        message.push(asked);
        Ok(())
    })
}
