//! What happens to calls, for whoever watches: each call moves through states, and a running one reports progress.
//!
//! Watching changes nothing: who publishes never waits, and keeps for a slow subscriber only so much.

mod event;
mod publisher;
mod queue;

pub use crate::stream::TextStream;
pub use portcullis_sandbox::Progress;

pub use event::{CallState, Event, EventKind};
pub use publisher::Events;
pub(crate) use publisher::{Ear, Heading, Publisher};
