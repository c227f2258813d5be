//! Opens a host. The steps are in the order in which they are needed.

mod builder;
mod error;
mod first_catalog;

pub use builder::HostBuilder;
pub use error::OpenError;
