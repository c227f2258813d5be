//! A feed of the calls of all hosts that use one state directory, for people who watch them.
//!
//! A host that shares its calls ([`HostBuilder::share_live`](crate::HostBuilder::share_live)) listens on a socket in
//! the state directory. It subscribes to its own events only while a reader is connected. A reader of the same user
//! connects to all of these hosts. It first gets the calls under way, and then their changes.
//!
//! All texts are untrusted: models and plugins wrote them. Show them only through [`text`](crate::text).

mod call;
mod connection;
mod directory;
mod event;
mod known_calls;
mod line;
mod reader;
mod server;
mod writer;

pub use call::{LiveCall, LiveEnd, LiveHost, LiveProgress, LiveState, PROGRESS_TEXT_BYTES};
pub(crate) use directory::LiveSocket;
pub use event::LiveEvent;
pub(crate) use known_calls::{KnownCalls, ObservedCall};
pub use reader::LiveReader;
pub(crate) use server::LiveServer;
