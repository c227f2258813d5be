//! npm and pip, which run with limits.

mod error;
mod runner;
mod usage;

pub use error::{Tool, ToolError, ToolOutput};
pub(crate) use runner::ToolRunner;
