//! The search index of a catalog, for picking tools.

use super::offer::Offer;
use portcullis_definitions::pick::Index;
use std::sync::OnceLock;

/// The index of a catalog, created on first use. A copy of a catalog has none, because copies are made to be changed.
#[derive(Debug, Default)]
pub(crate) struct Picker(pub(super) OnceLock<Picking>);

impl Clone for Picker {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The tools, sorted by full name, and their index.
#[derive(Debug)]
pub(super) struct Picking {
    pub(super) offers: Vec<Offer>,
    pub(super) index: Index,
}
