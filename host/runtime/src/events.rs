//! Events about calls, for subscribers. Each call goes through states, and a running call reports progress.
//!
//! Subscribers never slow down calls. The publisher never waits, and limits what it queues for a slow subscriber.

mod event;
mod publisher;
mod queue;

pub use crate::stream::TextStream;
pub use portcullis_sandbox::Progress;

pub use event::{CallState, Event, EventKind};
pub use publisher::Events;
pub(crate) use publisher::{Ear, Heading, Publisher};
