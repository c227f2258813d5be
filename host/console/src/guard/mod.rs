//! The checks that every request passes before a page sees it. One file per guard.

mod form;
mod headers;
mod host;
mod origin;
mod session;

pub(crate) use form::{ConsoleForm, read_form};
pub(crate) use headers::seal;
pub(crate) use host::{OwnHost, known_host};
pub(crate) use origin::own_origin;
pub(crate) use session::{COOKIE_PREFIX, signed_in};
