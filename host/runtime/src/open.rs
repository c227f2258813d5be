//! Opens a host.

mod builder;
mod error;
mod opening;

pub use builder::HostBuilder;
pub use error::OpenError;
