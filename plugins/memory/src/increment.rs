//! `increment`: adds to a number.

use portcullis_sdk::prelude::*;

use crate::notebook::Notebook;

/// Maximum step. A model does not write larger numbers reliably.
const STEP_MAX: u64 = 1_000_000_000;

#[arguments]
pub(crate) struct Increment {
    /// The name of the note that holds the number.
    #[schemars(length(min = 1, max = 128))]
    key: String,
    /// How much to add.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = STEP_MAX))]
    by: u64,
}

fn one() -> u64 {
    1
}

/// Adds to a note that is a whole number, in one step, and returns the sum. A note that does not exist counts as 0. Use
/// this to count: if you get a note and set it again, you overwrite what others set in between.
#[tool(destructive, requires(write), title = "Count in a note")]
pub(crate) fn increment(arguments: Increment, context: &Context) -> Result<Success<String>, Failure> {
    let Increment { key, by } = arguments;
    let sum = Notebook::of(context)?.increment(&key, by)?;
    let metadata = json!({ "key": key, "value": sum });
    Ok(Success::new(format!("`{key}` is now {sum}.")).title(format!("Counted {key}")).metadata(metadata))
}
