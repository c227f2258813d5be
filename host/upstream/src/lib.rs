//! A client of MCP servers that others wrote, in both eras of the protocol.
//!
//! A server is untrusted: it can send anything, at any time, or nothing. This crate bounds what it can make the host
//! hold, wait for, or do, and turns its answers into the types that plugins answer with. All texts that it returns are
//! the server's, unchecked.
//!
//! This crate must not know how a server is started or confined, what a policy is, or who calls.

// What a server may use, and what goes wrong.
mod error;
mod limits;

// What is known about a connection while it is open.
mod closing;
mod in_flight;
mod progress;
mod traffic;

// From bytes to messages.
mod decode;
mod guard;
mod http;
mod lines;
mod server_input;
mod stdio;

// How the host logs in to a server.
mod oauth;

// What a server asks.
mod handler;
mod requests;

// What a server says.
mod answer;
mod identity;
mod tool;

// What the host asks a server.
mod call;
mod client;
mod connect;
mod exchange;
mod list;
mod offers;
mod pages;
mod subscription;
mod task;

pub use call::{ProgressListener, ServerCall};
pub use client::ServerClient;
pub use closing::CloseReason;
pub use connect::{ServerEra, ServerStreams, connect, connect_in_era, connect_over_http};
pub use error::{ConnectError, ServerError};
pub use http::{ExchangeError, ExchangeFuture, HttpBody, HttpExchange, collect_body};
pub use identity::ServerIdentity;
pub use limits::ServerLimits;
pub use oauth::{LoginError, LoginOffer, LoginSettings, LoginUnderWay, ServerToken};
pub use offers::ServerOffer;
pub use progress::ServerProgress;
pub use requests::{
    ElicitationForm, ElicitationReply, ElicitationRequest, RefuseRequests, ReplyFuture, RequestKinds, RootFolder,
    ServerReply, ServerRequest, ServerRequests,
};
pub use tool::{ServerTool, ToolClaims};
