//! `read`: shows the list.

use portcullis_sdk::prelude::*;

use crate::list::List;

/// Shows the to-do list: `[ ]` is pending, `[>]` in progress, `[x]` completed.
#[tool(read_only, idempotent, requires(read), title = "Read the list")]
pub(crate) fn read(context: &Context) -> Result<Success<String>, Failure> {
    let list = List::kept(&context.store("items")?)?;
    Ok(Success::new(list.text()).title(format!("Read the list: {}", list.summary())).metadata(list.metadata()))
}
