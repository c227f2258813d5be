//! The todo plugin: one to-do list, kept in a store between calls.
//!
//! One file per tool; below them `list`: validates, stores and formats a list.

mod read;
mod write;

mod list;

use portcullis_sdk::prelude::*;

plugin! {
    name: "todo",
    description: "Keeps a to-do list.",
    tools: [write::write, read::read],
    dependencies: [store "items": "the list itself"],
}
