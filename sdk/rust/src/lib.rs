//! Write a Portcullis plugin in Rust.
//!
//! A tool is a struct and a function, each with an attribute; a plugin is a list of tools. The rest is derived: the
//! name and the description of the definition from the function, the JSON Schema from the struct, the parsing of the
//! arguments, the shape of the answer, and the exports of the component.
//!
//! ```
//! use portcullis_sdk::prelude::*;
//!
//! /// Whom to greet.
//! #[arguments]
//! struct Greet {
//!     /// A person's name.
//!     name: String,
//! }
//!
//! /// Greets a person by name.
//! #[tool(read_only, idempotent)]
//! fn greet(arguments: Greet) -> Result<String, Failure> {
//!     Ok(format!("Hello, {}!", arguments.name))
//! }
//!
//! plugin! { name: "hello", description: "Greets people.", tools: [greet] }
//! # fn main() {}
//! ```
//!
//! A tool reaches its host only through [`Context`]. In a guest it implements the contract in `wit/`. In a native build
//! it is a script (`portcullis_sdk::testing`), so that tools can be tested without a host.

mod definition;
mod schema;

mod call;
mod callable;
mod context;
mod directory;
mod failure;
mod generate;
pub mod http;
mod log;
mod prepare;
mod preview;
mod program;
mod review;
mod service;
mod store;
mod success;
mod toolset;
mod writer;

mod arguments;
mod plugin;
#[macro_use]
mod declare;

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod guest;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

#[cfg(target_arch = "wasm32")]
use guest::v0_2 as host;
#[cfg(not(target_arch = "wasm32"))]
use testing as host;

pub use call::{Call, Progress};
pub use callable::{CallableTool, Outlook, PLANNED_CALLS_MAX, ToolCall, ToolSummary};
pub use context::Context;
pub use definition::{Definition, Dependency, DependencyKind, Hint, Manifest, Permission};
pub use directory::Directory;
pub use failure::Failure;
pub use generate::{GeneratedCall, GeneratedTool, Generator};
pub use log::Level;
pub use plugin::{Declaration, Entry, Plugin, Tool};
pub use portcullis_sdk_macros::{arguments, output, tool};
pub use prepare::{Availability, Caller, Preparation, Preparing};
pub use preview::{FileChange, Preview};
pub use program::exit::{Exit, ExitReport, RunningEvent};
pub use program::launch::{Launch, Missing};
pub use program::{Chunk, Program, ProgramInput, ProgramOutput, ProgramStream, Running};
pub use review::{ApprovalRequest, Pattern, Review, Variation, Verdict};
pub use service::Service;
pub use store::Store;
pub use success::{Blob, IntoOutput, Json, Output, Part, Parts, Success};
pub use toolset::Toolset;
pub use writer::Writer;

/// The crates that derived code refers to. Depend on them directly for anything beyond the derives.
pub use {schemars, serde, serde_json};

/// The names that the source file of a tool needs.
pub mod prelude {
    pub use crate::http::{Client, Request, Response};
    pub use crate::{Blob, Context, Failure, IntoOutput, Json, Level, Part, Parts, Permission, Progress, Success};
    pub use crate::{Exit, Launch, Program, Running};
    pub use crate::{FileChange, Pattern, Preview, Review, Service, Store, ToolCall, Toolset, Verdict, Writer};
    pub use crate::{GeneratedCall, GeneratedTool, Generator, Hint, Output, Preparation, Preparing};
    pub use crate::{arguments, output, plugin, tool};
    pub use serde_json::json;
}

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
pub struct NoArguments {}

/// Functions that the code of `#[tool]` calls. Not part of the public API: they may change in any version.
#[doc(hidden)]
pub mod derived {
    use serde_json::Value;

    pub use crate::arguments::parse;

    #[must_use]
    pub fn schema<T: schemars::JsonSchema>() -> Value {
        crate::schema::of_arguments::<T>()
    }

    #[must_use]
    pub fn output_schema<O: crate::IntoOutput>() -> Option<Value> {
        O::schema()
    }
}
