//! The code generator of a program that has one.

use sha2::{Digest, Sha256};
use std::hash::{Hash, Hasher};
use wasmtime::{Config, Engine};

/// Whether this program can compile.
pub(crate) const IS_BUILT_IN: bool = true;

/// Applies the settings that only a code generator has.
pub(crate) fn configure(config: &mut Config) {
    config.cranelift_nan_canonicalization(false);
}

/// Compiles a component to code for this processor.
pub(crate) fn compile(engine: &Engine, component: &[u8]) -> wasmtime::Result<Vec<u8>> {
    engine.precompile_component(component)
}

/// Returns a digest of what compiled code depends on besides the component's bytes.
pub(crate) fn fingerprint(engine: &Engine) -> Option<[u8; 32]> {
    struct Digesting(Sha256);
    impl Hasher for Digesting {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        // Never called. The digest has more than 64 bits, because it tells apart code that runs in the host.
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut hasher = Digesting(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    Some(hasher.0.finalize().into())
}
