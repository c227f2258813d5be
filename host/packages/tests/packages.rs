//! Installs real packages with the real npm and pip, and hostile packages from a registry on loopback.

#![expect(clippy::disallowed_methods, reason = "the tests start servers, and change installed files behind the host")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod archive;
mod hostile_npm;
mod hostile_pypi;
mod newest;
mod programs;
mod registry;
mod servers;
mod setup;
mod specs;
mod store;
