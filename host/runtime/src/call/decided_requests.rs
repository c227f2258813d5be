//! The approval requests that the current catalog has decided again.

use crate::catalog::Catalog;
use std::collections::HashSet;
use std::sync::Weak;

/// The approval requests without a waiting call that were decided again under a catalog. The same catalog would decide
/// the same, so each of them is read once.
#[derive(Default)]
pub(crate) struct DecidedRequests {
    pub(super) under: Weak<Catalog>,
    pub(super) ids: HashSet<String>,
}
