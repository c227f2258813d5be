//! The versions of `portcullis:tool` that this host serves, one module each. Nothing outside this folder names a
//! generated type.

pub(crate) mod v0_1;
