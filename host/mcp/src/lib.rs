//! The tools of a host as an MCP server: over pipes and over HTTP, for clients of both eras of the protocol.
//!
//! It translates and decides nothing: what may run is the host's business, and what a client says of itself, or answers
//! for its user, counts as much as the operator said it does.

mod options;

pub use options::{ClientAnswers, ServerOptions, ToolNames};
