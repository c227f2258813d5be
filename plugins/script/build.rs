//! Links the guest with a larger stack.

/// The parser needs about 4 KiB for each level of nested source, and an engine call from native code as much: 4 MiB.
/// The host's limit of its own stack then ends a deeper recursion first. Untouched pages cost nothing.
const STACK_BYTES: u32 = 4 * 1024 * 1024;

#[expect(clippy::disallowed_methods, reason = "Cargo passes the target to a build script in the environment")]
fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
