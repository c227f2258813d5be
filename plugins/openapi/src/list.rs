//! The tool that lists the operations.

use portcullis_sdk::prelude::*;

use crate::text::line;
use crate::{definition, load, operation, settings};

/// Maximum operations that one call lists.
const LISTED_MAX: usize = 200;

/// Maximum bytes of a skipped operation's reason.
const REASON_BYTES_MAX: usize = 300;

/// What to list.
#[arguments]
pub(crate) struct ListArguments {
    /// Only operations whose name, method or path contains this text.
    #[schemars(length(max = 200))]
    query: Option<String>,
}

/// Lists the operations of the API: each with its tool, or with the reason why it has none.
#[tool(read_only, idempotent)]
pub(crate) fn operations(arguments: ListArguments, context: &Context) -> Result<String, Failure> {
    let document = load(context)?;
    let mut all = operation::read(&document, &settings::prefix(context));
    definition::tools(&document, &mut all);
    let of_tools = all.tools.iter().map(|one| format!("{}: {} {}", one.tool, one.method.name(), one.path));
    let skipped = all.skipped.iter().map(|one| format!("skipped: {}: {}", one.name, one.reason));
    let query = arguments.query.unwrap_or_default().to_lowercase();
    let lines: Vec<String> = of_tools.chain(skipped).filter(|line| line.to_lowercase().contains(&query)).collect();
    let mut text: Vec<String> = lines.iter().take(LISTED_MAX).map(|text| line(text, REASON_BYTES_MAX)).collect();
    if lines.len() > LISTED_MAX {
        text.push(format!("({} more; use `query` to find them)", lines.len() - LISTED_MAX));
    }
    Ok(text.join("\n"))
}
