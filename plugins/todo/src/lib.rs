//! The todo plugin: one list of what is to be done, kept in a store from one call to the next.
//!
//! One file per tool; below them `list`: what a list is, how it is kept and how it reads.

mod read;
mod write;

mod list;

use portcullis_sdk::prelude::*;

plugin! {
    name: "todo",
    description: "Keeps one list of what is to be done.",
    tools: [write::write, read::read],
    dependencies: [store "items": "the list itself"],
}
