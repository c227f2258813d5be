//! OpenAI's Responses: `output[]`, where calls are items of type `function_call`.

use super::message::{MemberKeys, Message, RequestedCall, call_member, once};
use crate::hydrate::cursor::{Cursor, FormFlaw};

const ITEM: MemberKeys = MemberKeys { id: "call_id", name: "name", arguments: "arguments" };

pub(super) fn read<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'[' {
        return items(message, cursor);
    }
    cursor.members(FormFlaw("it is neither an object nor a list"), |key, cursor| match key {
        "output" => {
            message.found()?;
            items(message, cursor)
        }
        "status" => message.stopped(cursor),
        _ => cursor.skip().map(drop),
    })?;
    match message.found {
        true => Ok(()),
        false => Err(FormFlaw("it has no output")),
    }
}

fn items<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    cursor.items(FormFlaw("its output is not a list"), |cursor| {
        let (mut asked, mut kind, mut status) = (RequestedCall::default(), None, None);
        cursor.members(FormFlaw("an item of its output is not an object"), |key, cursor| match key {
            "type" => once(
                &mut kind,
                cursor.text(FormFlaw("an item's type is not a string"))?,
                FormFlaw("an item has two types"),
            ),
            "status" => {
                let text = cursor.text(FormFlaw("the status of an item is not a string"))?;
                once(&mut status, text, FormFlaw("an item has two states"))
            }
            _ => call_member(&mut asked, ITEM, key, cursor),
        })?;
        match kind.as_deref() {
            Some("function_call") => {
                if status.is_some_and(|status| status != "completed") {
                    asked.flaw = Some("The provider reports this call as incomplete. Repeat it.");
                }
                message.push(asked);
            }
            Some("custom_tool_call") => {
                asked.flaw = Some("This is not a function call. Call one of the offered functions.");
                message.push(asked);
            }
            Some(_) | None => message.ends_in_call = false,
        }
        Ok(())
    })
}
