//! The checks that every request passes before the protocol sees it. One file per guard.

mod answer;
mod body;
mod host;
mod load;
mod origin;
mod query;
mod rate;
mod session;
mod stop;
mod token;

pub(super) use answer::seal;
pub(super) use body::{BodyRules, read_body};
pub(super) use host::{Hosts, known_host, known_host_or_address};
pub(super) use load::within_load;
pub(super) use origin::{Origins, known_origin};
pub(super) use query::no_query;
pub(super) use rate::{RateGuard, within_rate};
pub(super) use session::{SessionGuard, own_session};
pub(super) use stop::while_serving;
pub(super) use token::{TokenGuard, authorized};

pub use host::AllowedHost;
pub use origin::AllowedOrigin;
