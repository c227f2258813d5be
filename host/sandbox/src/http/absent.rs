//! What takes the place of the client in a program that was built without the feature `http`: it refuses.

pub(super) mod exchange;
pub(super) mod host_request;
pub(super) mod proxy;
pub(super) mod transport;
