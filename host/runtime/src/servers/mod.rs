//! MCP servers whose tools the host offers. Each is a program or an address that the policy names. A program runs
//! confined, from its first call until the host ends, and starts again when it has ended.
//!
//! A server is a plugin of the catalog. Its tools are listed and pinned like generated tools, and a call of them takes
//! all the steps of a call. This module must not know the catalog.

mod address;
mod body;
mod connection;
mod deadline;
mod difference;
mod error;
mod grant;
mod limits;
mod link;
mod listing;
mod login;
mod offers;
mod process;
mod questions;
mod run;

pub(crate) use difference::difference;
pub use error::ServerFault;
pub(crate) use grant::ServerGrant;
pub(crate) use link::{ServerChanges, ServerLink};
pub(crate) use listing::{ListedServer, ListedTool, said_before};
pub(crate) use login::ServerAccount;
pub use login::{AccountError, LoginStatus};
pub(crate) use offers::ServerAction;
pub(crate) use questions::AskUser;
pub(crate) use run::{ServerRun, run};
