//! Dependency injection for embedding applications: values under typed keys, and services that plugins can use.
//!
//! A [`Key`] names a value of one type. [`crate::HostBuilder::provide`] sets its provider, which runs at most once in
//! each call that needs the value. [`crate::HostBuilder::service`] exposes a value that is a [`Service`] under a name,
//! and the policy decides which plugin may call which of its methods. A value lives as long as its call. A test, or a
//! call for another user, can replace the value with [`crate::Request::provide`], without changes to plugins.

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

pub(crate) use grant::CallInjection;
pub(crate) use injection::Injection;
pub(crate) use overrides::Overrides;
pub(crate) use uses::Uses;
