//! `write`: stores a list.

use portcullis_sdk::prelude::*;

use crate::list::{Item, List};

#[arguments]
pub(crate) struct Write {
    /// The whole list, in the order in which things are to be done. It replaces the old list; `[]` empties the list.
    #[schemars(length(max = 100))]
    items: Vec<Item>,
}

/// Replaces the whole to-do list, and shows it. Use it to plan work of several steps: set one item to in_progress
/// before you work on it, and to completed as soon as it is done. Add items that turn up. Always pass all items: an
/// item that you leave out is deleted.
#[tool(idempotent, sequential, requires(write), title = "Write the list")]
pub(crate) fn write(arguments: Write, context: &Context) -> Result<Success<String>, Failure> {
    let list = List::new(arguments.items)?;
    list.keep(&context.store("items")?)?;
    Ok(Success::new(list.text()).title(format!("Wrote the list: {}", list.summary())).metadata(list.metadata()))
}
