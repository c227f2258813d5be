//! From the authoritative schema to what a provider takes, always on a copy.
//!
//! Three ways: a provider that takes any JSON Schema gets a copy, touched only where it would refuse the request; one
//! with a dialect of its own gets the schema built anew in that; and one that keeps nothing but types gets the rest in
//! words.

mod census;
mod copy;
mod dialect;
mod flatten;
mod keywords;
mod kinds;
mod pointer;
mod references;
mod rewrite;
mod words;

pub(super) use census::ExportCensus;
pub(super) use copy::{Touches, copied};
pub(super) use dialect::Dialect;
pub(super) use flatten::flattened;
pub(super) use rewrite::rewritten;

/// Subschemas of an export that stand in place of references. Those can make exponentially many of a short schema; one
/// without any has no more than it was written with.
const INLINED_SUBSCHEMAS_MAX: usize = 1000;

/// How deep an export nests, in subschemas. What refers to what it is part of could nest without an end, and every
/// provider reads the export with a parser that recurses.
const EXPORTED_DEPTH_MAX: usize = 48;
