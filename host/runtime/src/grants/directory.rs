//! A directory that the policy binds.

use portcullis_policy::Pointer;
use portcullis_sandbox::Directory;

/// An open directory that the policy binds.
#[derive(Clone)]
pub(crate) struct BoundDirectory {
    pub(crate) directory: Directory,
    /// The resolved path of the directory. Approvals are bound to it.
    pub(crate) place: String,
    /// The argument that a call's handle is narrowed to, if any.
    pub(crate) narrow: Option<Pointer>,
}
