//! What a host keeps in its state directory: the ledger, the audit log, and outputs that are too large for a reply.
//!
//! This is the only crate that uses SQLite, PostgreSQL and object stores. It writes and reads plain rows, entries and
//! files, and makes each change of the ledger in one transaction. It must not know what a call is, who answers an
//! approval request, or what a policy allows. Crate `portcullis` re-exports what an embedder may use.

pub mod audit;
pub mod ledger;
pub mod logins;
mod mac;
pub mod outputs;
mod outputs_address;
pub mod pins;
mod private_folder;
pub mod state_directory;
mod state_folder;
mod timestamp;
#[cfg(feature = "postgres")]
mod tls;

pub use timestamp::Timestamp;
