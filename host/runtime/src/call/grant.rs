//! Step 4: creates the handles of one call. A call gets a handle if the plugin asks for it, the policy binds it and the
//! tool's permissions reach it. The arguments can narrow it further.

mod address;
mod describe;
mod directory;
mod given;
mod handles;
mod http;
mod kind;
mod narrow;
mod program;
mod reach;
mod service;
mod store;
mod tools;
mod undeclared;

pub(crate) use describe::{bound_lines, describe_handles};
pub(crate) use directory::read_only_key;
pub(super) use directory::{check_writable, writable_directories};
pub(crate) use given::{reach, reaches_directories};
pub(crate) use handles::missing_keys;
pub(super) use handles::{GrantedCall, check, check_answerable, read_only_handles, review_handles};
pub(super) use http::unnamed_host;
pub(super) use program::{refresh_programs, replaced_program};
pub use reach::Reach;
pub(super) use store::stores_to_read;
pub(crate) use undeclared::undeclared;
