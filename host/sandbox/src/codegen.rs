//! The code generator, which the cargo feature `compiler` brings. Without it, only code from the cache runs.

#[cfg(not(feature = "compiler"))]
mod absent;
#[cfg(feature = "compiler")]
mod cranelift;

#[cfg(not(feature = "compiler"))]
pub(crate) use absent::{IS_BUILT_IN, compile, configure, fingerprint};
#[cfg(feature = "compiler")]
pub(crate) use cranelift::{IS_BUILT_IN, compile, configure, fingerprint};
