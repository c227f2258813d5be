//! The index of a catalog, for picking tools.

use super::offer::Offer;
use crate::pick::Index;
use std::sync::OnceLock;

/// The index of a catalog, made when it is first asked for. A copy of a catalog has none: it is there to be changed.
#[derive(Debug, Default)]
pub(crate) struct Picker(pub(super) OnceLock<Picking>);

impl Clone for Picker {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The tools in the order of their full names, and what is known of them.
#[derive(Debug)]
pub(super) struct Picking {
    pub(super) offers: Vec<Offer>,
    pub(super) index: Index,
}
