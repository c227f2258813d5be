//! `write`: stores a list.

use portcullis_sdk::prelude::*;

use crate::list::{Item, List};

#[arguments]
pub(crate) struct Write {
    /// The whole list, in the order in which things are to be done. It replaces the old list; `[]` empties the list.
    #[schemars(length(max = 100))]
    items: Vec<Item>,
}

/// Writes the whole list of what is to be done, in place of the one before, and shows it. Use it to plan work of
/// several steps: set one item to in_progress before working on it, to completed as soon as it is done, and add what
/// turns up. Always pass all items: the list keeps no others.
#[tool(idempotent, sequential, requires(write), title = "Write the list")]
pub(crate) fn write(arguments: Write, context: &Context) -> Result<Success<String>, Failure> {
    let list = List::new(arguments.items)?;
    list.keep(&context.store("items")?)?;
    Ok(Success::new(list.text()).title(format!("Wrote the list: {}", list.summary())).metadata(list.metadata()))
}
