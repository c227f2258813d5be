//! The memory plugin: a small notebook of keys and values, kept in a store from one call to the next.
//!
//! One file per tool; below them `notebook` (keys and the store) and `nearest` (suggestions for missing keys).

mod delete;
mod get;
mod increment;
mod list;
mod set;

mod nearest;
mod notebook;

use portcullis_sdk::prelude::*;

plugin! {
    name: "memory",
    description: "Keeps short notes under keys, from one call to the next.",
    tools: [set::set, get::get, increment::increment, delete::delete, list::list],
    dependencies: [store "notes": "the notes themselves"],
}
