//! The code generator of a program that was built without the feature `compiler`: it refuses.

use wasmtime::{Config, Engine};

/// Whether this program can compile.
pub(crate) const IS_BUILT_IN: bool = false;

/// Applies no setting, because all of them belong to the code generator.
pub(crate) fn configure(_: &mut Config) {}

/// Refuses to compile.
pub(crate) fn compile(_: &Engine, _: &[u8]) -> wasmtime::Result<Vec<u8>> {
    Err(wasmtime::Error::msg("this program was built without the feature `compiler`"))
}

/// Returns `None`, because the engine cannot tell what another engine compiles. It checks the code when it maps it.
pub(crate) fn fingerprint(_: &Engine) -> Option<[u8; 32]> {
    None
}
