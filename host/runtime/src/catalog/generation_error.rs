//! Why the tools that a plugin generates are not used.

use super::generated_change::GeneratedChange;
use portcullis_definitions::definition::DefinitionError;
use std::io;

/// Why the tools that a plugin generates are not used.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// The plugin could not generate them.
    #[error("it could not generate its tools: {}", .0)]
    Failed(String),
    /// They differ from one run to the next.
    #[error("the tools that it generates differ from one run to the next")]
    Unstable,
    /// There are none, and the manifest names none either.
    #[error("it has no tools: its manifest names none, and it generates none")]
    NoTools,
    /// A definition is invalid.
    #[error("the tools that it generates are invalid: {}", list(.0))]
    Definition(Vec<DefinitionError>),
    /// Some tools of a server cannot be used.
    #[error("it lists tools that cannot be used: {}", shown(.0))]
    Unusable(Vec<String>),
    /// They are not the tools that were accepted.
    #[error(transparent)]
    Changed(Box<GeneratedChange>),
    /// Their pin cannot be used.
    #[error("cannot use the pin of the tools that it generates, in the state directory")]
    Pin(#[source] io::Error),
}

/// Maximum problems of a server's tools that a message lists.
const PROBLEMS_SHOWN_MAX: usize = 8;

fn shown(problems: &[String]) -> String {
    let shown = problems.iter().take(PROBLEMS_SHOWN_MAX).cloned().collect::<Vec<_>>().join("; ");
    match problems.len().saturating_sub(PROBLEMS_SHOWN_MAX) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn list(problems: &[DefinitionError]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
