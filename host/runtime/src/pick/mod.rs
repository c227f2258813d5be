//! Picking the few tools of a large catalog that fit a need.

use crate::catalog::{Catalog, Offer};

impl Catalog {
    /// The tools that fit a need best, the best first; at most `limit`.
    pub fn pick(&self, query: &str, limit: usize) -> Vec<Offer> {
        self.offers().filter(|offer| offer.tool.description().contains(query)).take(limit).collect()
    }
}
