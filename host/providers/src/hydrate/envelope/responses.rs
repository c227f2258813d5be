//! OpenAI's Responses: `output[]`, where calls are items of type `function_call`.

use super::{Asked, Keys, Message, call_member, once};
use crate::hydrate::cursor::{Cursor, Flaw};

const ITEM: Keys = Keys { id: "call_id", name: "name", arguments: "arguments" };

pub(super) fn read<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), Flaw> {
    if cursor.peek() == b'[' {
        return items(message, cursor);
    }
    cursor.members(Flaw("it is neither an object nor a list"), |key, cursor| match key {
        "output" => {
            message.found()?;
            items(message, cursor)
        }
        "status" => message.stopped(cursor),
        _ => cursor.skip().map(drop),
    })?;
    match message.found {
        true => Ok(()),
        false => Err(Flaw("it has no output")),
    }
}

fn items<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), Flaw> {
    cursor.items(Flaw("its output is not a list"), |cursor| {
        let (mut asked, mut kind, mut status) = (Asked::default(), None, None);
        cursor.members(Flaw("an item of its output is not an object"), |key, cursor| match key {
            "type" => {
                once(&mut kind, cursor.text(Flaw("an item's type is not a string"))?, Flaw("an item has two types"))
            }
            "status" => {
                let text = cursor.text(Flaw("the status of an item is not a string"))?;
                once(&mut status, text, Flaw("an item has two states"))
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
