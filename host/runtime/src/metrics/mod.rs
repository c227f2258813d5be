//! Counts and measures the calls of a host, for operators.
//!
//! A call counts when its outcome is recorded, whatever it is. Counting takes a lock for the time of one look-up, and
//! allocates only at the first call of a tool with an outcome. This module must not know how a metric is published.

mod calls;
mod code_cache;
mod histogram;
mod observer;
mod snapshot;
mod step;
mod waiting_entries;

pub(crate) use calls::CallMetrics;
pub use calls::TOOLS_MAX;
pub(crate) use code_cache::CodeCacheCounters;
pub use histogram::HistogramSnapshot;
pub use observer::{CallObserver, FinishedCall};
pub use snapshot::{CallCount, CountedTool, HostMetrics, PolicyAnswer};
pub use step::CallStep;
pub(crate) use step::StepTimes;
