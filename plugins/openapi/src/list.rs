//! The tool that lists the operations.

use portcullis_sdk::prelude::*;

use crate::document::{Document, DocumentUse};
use crate::settings::Settings;
use crate::text::line;
use crate::{definition, operation};

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
    /// How many of them to leave out first.
    start: Option<usize>,
}

/// Lists the operations of the API: each with its tool, or with the reason why it has none.
#[tool(read_only, idempotent, requires(read), title = "List the operations")]
pub(crate) fn operations(arguments: ListArguments, context: &Context) -> Result<String, Failure> {
    let settings = Settings::read(context)?;
    let document = Document::load(context, &settings, DocumentUse::Definitions)?;
    let mut all = operation::read(&document, &settings).map_err(Failure::failed)?;
    // Making the tools also finds the operations whose schema cannot be used.
    definition::tools(&document, &mut all).map_err(Failure::failed)?;
    let of_tools = all.tools.iter().map(|one| format!("{}: {} {}", one.tool, one.method.name(), one.path));
    let skipped = all.skipped.iter().map(|one| format!("skipped: {}: {}", one.name, one.reason));
    let query = arguments.query.unwrap_or_default().to_lowercase();
    let lines: Vec<String> = of_tools.chain(skipped).filter(|line| line.to_lowercase().contains(&query)).collect();
    let start = arguments.start.unwrap_or(0);
    let mut text: Vec<String> =
        lines.iter().skip(start).take(LISTED_MAX).map(|text| line(text, REASON_BYTES_MAX)).collect();
    let after = lines.len().saturating_sub(start.saturating_add(LISTED_MAX));
    if after > 0 {
        text.push(format!("({after} more; continue with `start` {}, or use `query`)", start + LISTED_MAX));
    }
    if all.unselected_count > 0 {
        text.push(format!("({} are not selected by the settings)", all.unselected_count));
    }
    Ok(text.join("\n"))
}
