//! Converts the authoritative schema to one that a provider accepts, always on a copy.
//!
//! There are three ways. A provider that accepts any JSON Schema gets a copy, changed only where it would refuse the
//! request. A provider with its own dialect gets a schema that is rebuilt in that dialect. A provider that keeps only
//! types gets the rest in descriptions.

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

/// Maximum subschemas of an export that replace references. References can make exponentially many of a short schema. A
/// schema without references has no more subschemas than were written.
const INLINED_SUBSCHEMAS_MAX: usize = 1000;

/// Maximum nesting of an export, in subschemas. A recursive reference could nest without end, and every provider parses
/// the export recursively.
const EXPORTED_DEPTH_MAX: usize = 48;
