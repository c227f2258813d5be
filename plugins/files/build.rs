//! Links the guest with an initial heap.

/// What a call on ordinary source files allocates: 1 MiB. Untouched pages cost nothing, while each `memory.grow` of a
/// running call is a system call in the host.
const INITIAL_HEAP_BYTES: u32 = 1024 * 1024;

#[expect(clippy::disallowed_methods, reason = "Cargo passes the target to a build script in the environment")]
fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--initial-heap={INITIAL_HEAP_BYTES}");
    }
}
