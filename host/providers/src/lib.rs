//! Exports the tools of a host to the formats of model providers, and converts the answers of models to calls.
//!
//! A tool has one authoritative definition, which never changes. An export is a copy with a list of what is lost.
//! Answers are validated against the authoritative schema, whatever the provider enforces. This crate decides nothing:
//! a hydrated call goes to the host like any other, and the host refuses and records a wrong one.
//!
//! ```no_run
//! # async fn example(host: portcullis::Host, answer: String) -> Result<(), Box<dyn std::error::Error>> {
//! use portcullis::{Batch, Caller};
//! use portcullis_providers::{Definitions, Format};
//!
//! let tools = Definitions::of_host(&host)?;
//! let exported = tools.export(Format::OpenAiChat).tools;
//! let calls = tools.hydrate(Format::OpenAiChat, &answer, &host)?;
//! let replies = host.batch(Batch::new(calls.requests(&Caller::new()))).await;
//! let messages = calls.results(&replies);
//! # let _ = (exported, messages);
//! # Ok(())
//! # }
//! ```

mod definitions;
mod export;
mod format;
mod hydrate;
mod results;

pub use definitions::Definitions;
pub use export::{Export, Loss};
pub use format::{Format, UnknownFormat};
pub use hydrate::{HydrateError, Hydrated, HydratedCall};
