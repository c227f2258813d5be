//! Gemini's generateContent: `candidates[0].content.parts[]`, where calls are parts with a `functionCall`. The Python
//! SDK writes the same keys with underscores.

use super::message::{MemberKeys, Message, RequestedCall, call_member, once};
use crate::hydrate::cursor::{Cursor, FormFlaw};

const CALL: MemberKeys = MemberKeys { id: "id", name: "name", arguments: "args" };

pub(super) fn read<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'[' {
        return parts(message, cursor);
    }
    let mut is_blocked = false;
    cursor.members(FormFlaw("it is neither an object nor a list"), |key, cursor| match key {
        "candidates" => {
            message.found()?;
            candidates(message, cursor)
        }
        "parts" => {
            message.found()?;
            optional_parts(message, cursor)
        }
        // The provider refused the prompt, or the content has no parts. In both cases, the model requests no call.
        "promptFeedback" | "prompt_feedback" | "role" => {
            is_blocked = true;
            cursor.skip().map(drop)
        }
        _ => cursor.skip().map(drop),
    })?;
    match message.found || is_blocked {
        true => Ok(()),
        false => Err(FormFlaw("it has neither candidates nor parts")),
    }
}

fn candidates<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'n' {
        return cursor.skip().map(drop);
    }
    let mut count = 0;
    cursor.items(FormFlaw("its candidates are not a list"), |cursor| {
        count += 1;
        if count > 1 {
            return Err(FormFlaw("it has several candidates; choose one first"));
        }
        let mut has_content = None;
        cursor.members(FormFlaw("its candidate is not an object"), |key, cursor| match key {
            "content" => {
                once(&mut has_content, Some(()), FormFlaw("its candidate has two contents"))?;
                content(message, cursor)
            }
            "finishReason" | "finish_reason" => message.stopped(cursor),
            _ => cursor.skip().map(drop),
        })
    })
}

fn content<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'n' {
        return cursor.skip().map(drop);
    }
    let mut has_parts = None;
    cursor.members(FormFlaw("its content is not an object"), |key, cursor| match key {
        "parts" => {
            once(&mut has_parts, Some(()), FormFlaw("its content has two lists of parts"))?;
            optional_parts(message, cursor)
        }
        _ => cursor.skip().map(drop),
    })
}

fn optional_parts<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'n' {
        return cursor.skip().map(drop);
    }
    parts(message, cursor)
}

fn parts<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    cursor.items(FormFlaw("its parts are not a list"), |cursor| {
        let mut call = None;
        cursor.members(FormFlaw("a part is not an object"), |key, cursor| match key {
            "functionCall" | "function_call" if cursor.peek() != b'n' => {
                let mut asked = RequestedCall::default();
                let what = FormFlaw("the call of a part is not an object");
                cursor.members(what, |key, cursor| call_member(&mut asked, CALL, key, cursor))?;
                once(&mut call, Some(asked), FormFlaw("a part has two calls"))
            }
            _ => cursor.skip().map(drop),
        })?;
        match call {
            Some(asked) => message.push(asked),
            None => message.ends_in_call = false,
        }
        Ok(())
    })
}
