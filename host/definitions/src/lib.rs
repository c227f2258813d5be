//! What plugins say about themselves, and how the host reads it: manifests and tool definitions, schemas, names,
//! placeholders, lints, the search for tools, and the encoding of untrusted text.
//!
//! Everything here is computed from values in memory. This crate must not know files, a network, a clock, an async
//! runtime, or the engine that runs plugins. Crate `portcullis` re-exports what an embedder may use.

// Untrusted text.
pub mod invisible;
pub mod json_layout;
pub mod text;
pub mod tokens;

// What a plugin says.
pub mod manifest;

// The schemas of arguments and outputs.
#[doc(hidden)]
pub use portcullis_policy::nearest;
pub mod schema;

// A checked definition.
pub mod definition;
pub mod tool;

// Descriptions for models.
pub mod lint;
pub mod placeholders;

// How a tool is named and found.
pub mod names;
pub mod pick;
