//! The key `paused`: while a layer sets it, every call is refused.
//!
//! This file must not know how a call is refused, or who removes the key.

use std::sync::Arc;

use serde::Serialize;

use crate::layer::Layer;

/// The pause of a policy. It overrides every rule and the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// The layer that sets it. If several do, it is the first of them.
    pub layer: Layer,
    /// The reason that the policy gives. One line.
    #[serde(serialize_with = "as_text")]
    pub reason: Arc<str>,
}

fn as_text<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    // serde implements this for `Arc` only with its feature `rc`.
    serializer.serialize_str(text)
}
