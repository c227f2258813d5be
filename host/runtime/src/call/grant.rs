//! Step 4: creates the handles of one call. A call gets a handle if the plugin asks for it, the policy binds it and the
//! tool's permissions reach it. The arguments can narrow it further.

mod describe;
mod given;
mod handles;
mod narrow;
mod reach;
mod undeclared;

pub(crate) use describe::{bound_lines, describe_handles};
pub(crate) use given::reaches_directories;
pub(super) use handles::{
    GrantedCall, check, check_answerable, check_writable, read_only_handles, review_handles, stores_to_read,
    writable_directories,
};
pub(crate) use handles::{missing_keys, read_only_key, ungranted};
pub(super) use narrow::unnamed_host;
pub use reach::Reach;
pub(crate) use reach::reach;
pub(crate) use undeclared::undeclared;
