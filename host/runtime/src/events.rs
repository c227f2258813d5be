//! Events about calls, for subscribers. Each call goes through states, and a running call reports progress.
//!
//! Subscribers never slow down calls. The publisher never waits, and limits what it queues for a slow subscriber.

mod event;
mod filter;
mod payload;
mod publisher;
mod queue;

pub use crate::stream::TextStream;
pub use portcullis_sandbox::Progress;

pub use event::{CallState, Event, EventKind};
pub use filter::EventFilter;
pub use payload::{EVENT_PAYLOAD_BYTES_MAX, EventPayload};
pub use publisher::Events;
pub(crate) use publisher::{Ear, Heading, Publisher};
