//! Logins to servers that are reached over HTTP: what is kept of them, and the requests to authorization servers.

mod account;
mod requests;
mod tokens;

pub(crate) use account::ServerAccount;
pub use account::{AccountError, LoginStatus};
pub(super) use tokens::TokenKeeper;
