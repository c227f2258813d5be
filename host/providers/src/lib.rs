//! The tools of a host in the format of each model provider, and the way back: from what a model answered to calls.
//!
//! There is one authoritative definition of a tool, and it is never changed: an export is a copy that says what it
//! lost, and what comes back is held to the authoritative schema, whatever the provider promised. Nothing is decided
//! here: a hydrated call goes to the host like any other, and one that is wrong is refused and recorded there.
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
