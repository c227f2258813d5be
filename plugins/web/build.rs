//! Links the guest with a heap that is there from the start, and with a stack for deep pages.

/// 4 MiB: what a call on an ordinary page allocates. Memory that nobody touches costs nothing, while each
/// `memory.grow` of a running call is a system call in the host.
const INITIAL_HEAP_BYTES: u32 = 4 * 1024 * 1024;

#[expect(clippy::disallowed_methods, reason = "a build script hears of its target so")]
fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--initial-heap={INITIAL_HEAP_BYTES}");
    }
}
