//! Anthropic's Messages: `content[]`, where calls are blocks of type `tool_use`.

use super::message::{MemberKeys, Message, RequestedCall, call_member, once};
use crate::hydrate::cursor::{Cursor, FormFlaw};

const BLOCK: MemberKeys = MemberKeys { id: "id", name: "name", arguments: "input" };

pub(super) fn read<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    if cursor.peek() == b'[' {
        return blocks(message, cursor);
    }
    cursor.members(FormFlaw("it is neither an object nor a list"), |key, cursor| match key {
        "content" => {
            message.found()?;
            // A message that is only text may have a string as its content.
            match cursor.peek() {
                b'"' => cursor.skip().map(drop),
                _ => blocks(message, cursor),
            }
        }
        "stop_reason" => message.stopped(cursor),
        _ => cursor.skip().map(drop),
    })?;
    match message.found {
        true => Ok(()),
        false => Err(FormFlaw("it has no `content`")),
    }
}

fn blocks<'a>(message: &mut Message<'a>, cursor: &mut Cursor<'a>) -> Result<(), FormFlaw> {
    cursor.items(FormFlaw("its content is not a list"), |cursor| {
        let (mut asked, mut kind) = (RequestedCall::default(), None);
        cursor.members(FormFlaw("a block of its content is not an object"), |key, cursor| match key {
            "type" => once(
                &mut kind,
                cursor.text(FormFlaw("a block's type is not a string"))?,
                FormFlaw("a block has two types"),
            ),
            // Blocks of other types use these keys differently. They are checked when the type is known.
            "id" | "name" if cursor.peek() != b'"' => cursor.skip().map(drop),
            _ => call_member(&mut asked, BLOCK, key, cursor),
        })?;
        match kind.as_deref() {
            Some("tool_use") => message.push(asked),
            Some(_) | None => message.ends_in_call = false,
        }
        Ok(())
    })
}
