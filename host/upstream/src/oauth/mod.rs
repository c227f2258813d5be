//! Logs in to servers with OAuth (RFC 6749, with the rules of the MCP specification for clients).
//!
//! The protocol library discovers the authorization server, registers the client, and checks what comes back: the
//! issuer, the resource, the state and PKCE. This module limits what a server can make the host hold, remembers where a
//! token came from, and uses it only there. It must not know where a login is kept, or how a request is sent.

mod endpoints;
mod error;
mod exchange;
mod login;
mod renewal;
mod server_token;

pub use error::LoginError;
pub use login::{LoginOffer, LoginSettings, LoginUnderWay};
pub use server_token::ServerToken;
