//! Hostile packages of PyPI. They neither run code while they are installed, nor bring what is not pinned.

use std::process::Command;

use crate::archive::{TarEntry, tarball};
use crate::registry::{Registry, wheel};
use crate::setup::{Site, assert_says, command_of, first_line};

/// A module whose program answers each line with itself.
const ECHO: &[u8] = b"import sys\ndef main():\n    for line in sys.stdin:\n        print(line, end='', flush=True)\n";

/// Returns a source package that leaves a trace when it is built. It brings its own builder, so that it needs no other.
fn source_package(site: &Site) -> Vec<u8> {
    let project = b"[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";
    let backend = format!("open({:?}, 'w').close()\n", site.trace());
    tarball(&[
        TarEntry::File("inner-1.0.0/PKG-INFO", b"Metadata-Version: 2.1\nName: inner\nVersion: 1.0.0\n"),
        TarEntry::File("inner-1.0.0/pyproject.toml", project),
        TarEntry::File("inner-1.0.0/backend.py", backend.as_bytes()),
        TarEntry::File("inner-1.0.0/setup.py", backend.as_bytes()),
    ])
}

#[test]
fn a_wheel_is_installed_and_starts() {
    let (site, registry) = (Site::new(), Registry::start());
    let trace = format!("import builtins; builtins.open({:?}, 'w')\n", site.trace());
    registry.wheel("inner", &[], &[("inner.py", b"x = 1\n"), ("inner-evil.pth", trace.as_bytes())]);
    registry.wheel("server", &["inner>=1"], &[("server.py", ECHO), ("server_template.py", b"{{ no python }}\n")]);
    let package = site.install("pypi:server==1.0.0", &registry).unwrap();
    let dependencies: Vec<_> = package.dependencies().iter().map(|dependency| &*dependency.name).collect();
    assert_eq!(dependencies, ["inner", "server"]);
    assert!(package.files().iter().any(|file| file.path.contains("__pycache__/server.")), "{:?}", package.files());
    assert_eq!(first_line(&command_of(&package), &[], "hello"), "hello\n");
    assert!(!site.trace().exists());

    // The compiled files have no time and no temporary path, so another installation has the same hash.
    let again = Site::new().install("pypi:server==1.0.0", &registry).unwrap();
    assert_eq!(again.tree_hash(), package.tree_hash());
}

#[test]
fn a_source_package_is_never_built() {
    let (site, registry) = (Site::new(), Registry::start());
    let source = source_package(&site);
    registry.index_file("inner", "inner-1.0.0.tar.gz", &source, None);
    registry.file("/elsewhere/inner-1.0.0.tar.gz", &source);
    let direct = format!("inner @ {}", registry.url("/elsewhere/inner-1.0.0.tar.gz"));
    registry.wheel("direct", &[&direct], &[("direct.py", ECHO)]);
    registry.wheel("git", &["inner @ git+https://127.0.0.1:9/inner.git"], &[("git.py", ECHO)]);

    let error = site.install("pypi:inner==1.0.0", &registry).unwrap_err();
    assert_says(&error, "No matching distribution");
    for spec in ["pypi:direct==1.0.0", "pypi:git==1.0.0"] {
        let error = site.install(spec, &registry).unwrap_err();
        assert_says(&error, "Portcullis does not let pip start programs");
    }
    assert!(!site.trace().exists());

    // Without the guard, pip builds the direct dependency although only wheels are allowed.
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--only-binary=:all:", "--dry-run", "--ignore-installed", "direct==1.0.0"]);
    pip.arg("--target").arg(site.folder.path().join("target"));
    pip.arg(format!("--index-url={}", registry.url("/simple"))).output().unwrap();
    assert!(site.trace().exists());
}

#[test]
fn a_direct_wheel_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    registry.file("/elsewhere/inner-1.0.0-py3-none-any.whl", &wheel("inner", "inner", &[], &[]));
    let direct = format!("inner @ {}", registry.url("/elsewhere/inner-1.0.0-py3-none-any.whl"));
    registry.wheel("server", &[&direct], &[("server.py", ECHO)]);
    let error = site.install("pypi:server==1.0.0", &registry).unwrap_err();
    assert_says(&error, "`inner` comes from http://127.0.0.1");
}

#[test]
fn a_wheel_with_another_name_hash_or_place_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    let files: [(&str, &[u8]); 1] = [("server.py", ECHO)];
    registry.index_file("server", "server-1.0.0-py3-none-any.whl", &wheel("server", "other", &[], &files), None);
    assert!(site.install("pypi:server==1.0.0", &registry).is_err());

    let content = wheel("hash", "hash", &[], &files);
    registry.index_file("hash", "hash-1.0.0-py3-none-any.whl", &content, Some(&"0".repeat(64)));
    let error = site.install("pypi:hash==1.0.0", &registry).unwrap_err();
    assert_says(&error, "DO NOT MATCH THE HASHES");

    let up = format!("{}trace", "../".repeat(5));
    registry.wheel("escape", &[], &[("escape.py", ECHO), (&up, b"x")]);
    assert!(site.install("pypi:escape==1.0.0", &registry).is_err());
    assert!(!site.trace().exists());
}

#[test]
fn a_wheel_that_is_too_large_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    let huge = vec![0; 16 << 20];
    registry.wheel("server", &[], &[("server.py", ECHO), ("huge.bin", &huge)]);
    let mut options = registry.options();
    options.limits.bytes_max = 4 << 20;
    assert_says(&site.install_with("pypi:server==1.0.0", &options).unwrap_err(), "more than 4194304 bytes on disk");
    options.limits = Default::default();
    options.limits.file_bytes_max = 4 << 20;
    assert_says(&site.install_with("pypi:server==1.0.0", &options).unwrap_err(), "a file of more than 4194304 bytes");
}
