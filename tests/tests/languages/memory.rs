//! The SDK for C frees what it takes from the host, and nothing twice, on every path.
//!
//! The tests of the table run it in WebAssembly, where no sanitizer finds a byte that is freed twice. So this builds
//! the sources for this machine, with bindings that answer as a script says, and with the sanitizers of the C compiler.

use crate::row::repository;
use std::process::Command;

/// The sources that take memory and handles from the host, and what they need.
const SOURCES: [&str; 5] = ["toolset.c", "program.c", "text.c", "utf8.c", "allocation.c"];
/// Ends the program at the first fault.
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

#[test]
fn handles_and_memory_of_the_host_are_freed_once() {
    let (sdk, tests) = (repository().join("sdk/c"), repository().join("tests/languages/c/memory"));
    let place = tempfile::tempdir().unwrap();
    let built = place.path().join("test");
    let mut compiler = Command::new("cc");
    // The name of C23 that older compilers know too.
    compiler.args(["-std=gnu2x", "-g", "-Wall", "-Werror"]).args(SANITIZERS).arg("-o").arg(&built);
    compiler.arg("-I").arg(sdk.join("include")).arg("-I").arg(sdk.join("generated"));
    compiler.args(SOURCES.map(|file| sdk.join("src").join(file)));
    compiler.args(["bindings.c", "test.c"].map(|file| tests.join(file)));
    let compiled = compiler.output().expect("a C compiler, which Rust needs as its linker");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&built).env("ASAN_OPTIONS", "detect_leaks=1").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "0 handles are left\n");
}
