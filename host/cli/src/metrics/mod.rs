//! The metrics of a server, and the formats in which they are published.

mod families;
mod family;
mod prometheus;

pub(crate) use families::families;
#[cfg(feature = "otlp")]
pub(crate) use family::{Labels, MetricFamily, MetricValues};
pub(crate) use prometheus::{CONTENT_TYPE, text};
