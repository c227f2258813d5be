//! The SDKs' own unit tests, run with the tools of each language.

use crate::row::{cache, repository};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a program of a toolchain that builds the components.
fn toolchain(name: &str, program: &str) -> PathBuf {
    let entries = std::fs::read_dir(cache().join("toolchains")).unwrap().map(|entry| entry.unwrap());
    let of_name = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{name}-")));
    // If there is also an older pinned version, use the current one.
    let newest = of_name.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    let program = newest.unwrap_or_else(|| panic!("there is no toolchain {name}")).path().join(program);
    assert!(program.is_file(), "{}", program.display());
    program
}

#[track_caller]
fn passes(command: &mut Command, sdk: &Path) {
    let ran = command.current_dir(sdk).output().unwrap();
    let words = [ran.stdout, ran.stderr].concat();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&words));
}

#[test]
fn python() {
    let mut python = Command::new("python3");
    python.args(["-B", "-m", "unittest", "discover", "-s", "tests"]);
    passes(&mut python, &repository().join("sdk/python"));
}

#[test]
fn go() {
    let mut go = Command::new(toolchain("go", "go/bin/go"));
    go.args(["test", "./..."]).env("GOENV", "off").env("GOFLAGS", "").env("GOTOOLCHAIN", "local").env("GOPROXY", "off");
    go.env("GOCACHE", cache().join("go"));
    passes(&mut go, &repository().join("sdk/go"));
}

#[test]
fn zig() {
    let cache = tempfile::tempdir().unwrap();
    let mut zig = Command::new(toolchain("zig", "ziglang/zig"));
    zig.args(["test", "src/portcullis.zig", "--cache-dir"]).arg(cache.path());
    zig.arg("--global-cache-dir").arg(cache.path());
    passes(&mut zig, &repository().join("sdk/zig"));
}
