//! What an embedding application injects: values under typed keys, and services that plugins may use.
//!
//! A [`Key`] names a value of one type. [`crate::HostBuilder::provide`] says how it is made, at most once in every call
//! that wants it; [`crate::HostBuilder::service`] exposes one that is a [`Service`] under a name, and the policy says
//! which plugin may call which of its methods. The value lives as long as the call. A test, or a call on behalf of
//! somebody else, puts another value in its place with [`crate::Request::provide`], and no plugin has to know.

mod builder;
mod error;
mod facts;
mod grant;
mod injection;
mod key;
mod overrides;
mod service;
mod uses;
mod waiting;

pub use error::InjectError;
pub use facts::CallFacts;
pub use injection::{Injector, ProviderError};
pub use key::Key;
pub use service::{SERVICE_TEXT_BYTES_MAX, Service, ServiceError, service_fn};

pub(crate) use injection::Injection;
pub(crate) use overrides::Overrides;
pub(crate) use uses::Uses;
