//! Step 4: the handles of this one call: what the plugin asks for, of that what the policy binds, of that what the
//! tool's permissions reach, and of that what the arguments name.

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
