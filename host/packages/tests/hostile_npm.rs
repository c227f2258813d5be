//! Hostile packages of npm. They neither run code while they are installed, nor bring what is not pinned.

use portcullis_packages::{PackageError, PackageRefusal, ToolError};
use serde_json::json;
use std::process::Command;
use std::time::Duration;

use crate::archive::{TarEntry, tarball};
use crate::registry::Registry;
use crate::setup::{Site, assert_says, command_of, first_line};

/// A script that answers each line with itself.
const ECHO: TarEntry<'static> =
    TarEntry::File("package/cli.js", b"#!/usr/bin/env node\nprocess.stdin.pipe(process.stdout);");

#[test]
fn no_script_of_a_package_runs() {
    let (site, registry) = (Site::new(), Registry::start());
    let trace = format!("touch {}", site.trace().display());
    let scripts = json!({ "preinstall": trace, "install": trace, "postinstall": trace, "prepare": trace });
    registry.npm("inner", &json!({ "scripts": scripts }), &[TarEntry::File("package/binding.gyp", b"{}")]);
    let fields = json!({ "scripts": scripts, "bin": "cli.js", "dependencies": { "inner": "^1.0.0" } });
    registry.npm("server", &fields, &[ECHO]);

    let package = site.install("npm:server@1.0.0", &registry).unwrap();
    assert!(!site.trace().exists());
    assert_eq!(package.dependencies().len(), 2);
    assert!(package.dependencies().iter().all(|dependency| dependency.skipped_script));
    assert_eq!(first_line(&command_of(&package), &[], "hello"), "hello\n");

    // Without the guards, npm runs them.
    let mut npm = Command::new("npm");
    npm.args(["install", "server@1.0.0", "--ignore-scripts=false", "--dangerously-allow-all-scripts"]);
    npm.args([format!("--registry={}", registry.url("/")), format!("--prefix={}", site.folder.path().display())]);
    npm.output().unwrap();
    assert!(site.trace().exists());
}

#[test]
fn a_tarball_cannot_leave_its_folder() {
    let (site, registry) = (Site::new(), Registry::start());
    let files = [
        ECHO,
        TarEntry::Symlink("package/etc", "/etc"),
        TarEntry::File("package/etc/trace", b"x"),
        TarEntry::Symlink("package/up", "../../../../../../trace"),
        TarEntry::Hardlink("package/passwd", "/etc/passwd"),
        TarEntry::File("package/../../../../../../../trace", b"x"),
        TarEntry::File("/tmp/portcullis-packages-trace", b"x"),
    ];
    registry.npm("server", &json!({ "bin": "cli.js" }), &files);
    // npm leaves such entries out, or fails. If it did neither, the links and files would be refused.
    if let Ok(package) = site.install("npm:server@1.0.0", &registry) {
        assert!(package.links().iter().all(|link| link.target.ends_with("cli.js")), "{:?}", package.links());
        assert!(package.files().iter().all(|file| !file.path.ends_with("passwd")), "{:?}", package.files());
    }
    assert!(!site.trace().exists() && !std::path::Path::new("/etc/trace").exists());
    assert!(!std::path::Path::new("/tmp/portcullis-packages-trace").exists());
}

#[test]
fn a_tarball_with_another_hash_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    let fields = json!({ "bin": "cli.js" });
    let other = tarball(&[TarEntry::File("package/package.json", br#"{"name":"server","version":"1.0.0"}"#)]);
    registry.npm("server", &fields, &[ECHO]);
    registry.file("/server/-/1.0.0.tgz", &other);
    let error = site.install("npm:server@1.0.0", &registry).unwrap_err();
    assert_says(&error, "EINTEGRITY");

    for weak in [None, Some("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")] {
        registry.npm_tarball("server", &fields, &other, weak);
        let error = site.install("npm:server@1.0.0", &registry).unwrap_err();
        assert_says(&error, "the registry has no SHA-512 hash of `node_modules/server`");
    }
}

#[test]
fn a_dependency_that_is_not_of_the_registry_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    let elsewhere = Registry::start();
    elsewhere.file(
        "/inner.tgz",
        &tarball(&[TarEntry::File("package/package.json", br#"{"name":"inner","version":"1.0.0"}"#)]),
    );
    let address = elsewhere.url("/inner.tgz");
    for source in [
        address.as_str(),
        "git+https://127.0.0.1:9/inner.git",
        "file:/etc",
        "file:/etc/inner.tgz",
        "github:user/inner#0123456789012345678901234567890123456789",
    ] {
        let fields = json!({ "bin": "cli.js", "dependencies": { "inner": source } });
        registry.npm("server", &fields, &[ECHO]);
        let error = site.install("npm:server@1.0.0", &registry).unwrap_err();
        let refused = matches!(
            error,
            PackageError::Tool(ToolError::Failed { .. })
                | PackageError::Refused { refusal: PackageRefusal::ForeignSource { .. }, .. }
        );
        assert!(refused, "{source}: {error}");
    }
    assert!(site.store.list().unwrap().is_empty());
}

#[test]
fn a_lock_file_of_a_package_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    let own_lock = json!({ "name": "server", "version": "1.0.0", "lockfileVersion": 3, "packages": {} }).to_string();
    let files = [ECHO, TarEntry::File("package/npm-shrinkwrap.json", own_lock.as_bytes())];
    registry.npm("server", &json!({ "bin": "cli.js", "_hasShrinkwrap": true }), &files);
    let error = site.install("npm:server@1.0.0", &registry).unwrap_err();
    assert_says(&error, "brings its own npm-shrinkwrap.json");
}

#[test]
fn a_bundled_or_renamed_dependency_is_pinned() {
    let (site, registry) = (Site::new(), Registry::start());
    registry.npm("real", &json!({}), &[]);
    let bundled = TarEntry::File("package/node_modules/inner/package.json", br#"{"name":"inner","version":"3.0.0"}"#);
    let fields = json!({
        "bin": "cli.js", "bundleDependencies": ["inner"],
        "dependencies": { "inner": "3.0.0", "alias": "npm:real@1.0.0" },
    });
    registry.npm("server", &fields, &[ECHO, bundled]);
    let package = site.install("npm:server@1.0.0", &registry).unwrap();
    let dependencies: Vec<_> = package
        .dependencies()
        .iter()
        .map(|dependency| (dependency.name.as_str(), dependency.place.as_str(), dependency.integrity.is_empty()))
        .collect();
    assert_eq!(
        dependencies,
        [
            ("inner", "node_modules/server/node_modules/inner", true),
            ("real", "node_modules/alias", false),
            ("server", "node_modules/server", false),
        ]
    );
}

#[test]
fn a_package_that_is_too_large_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    let fields = json!({ "bin": "cli.js" });
    let install = |bytes_max: u64, file_bytes_max: u64, files_max: u64| {
        let mut options = registry.options();
        options.limits.bytes_max = bytes_max;
        options.limits.file_bytes_max = file_bytes_max;
        options.limits.files_max = files_max;
        site.install_with("npm:server@1.0.0", &options)
    };
    let (large, megabyte) = (64 << 20, 1 << 20);

    // 16 MiB of zeros in a tarball of 80 KiB.
    let huge = vec![0; 16 << 20];
    registry.npm("server", &fields, &[ECHO, TarEntry::File("package/huge", &huge)]);
    assert_says(&install(large, 4 * megabyte, 1000).unwrap_err(), "a file of more than 4194304 bytes");
    assert_says(&install(4 * megabyte, large, 1000).unwrap_err(), "more than 4194304 bytes on disk");
    assert!(install(large, large, 1000).is_ok());

    let names: Vec<String> = (0..2000).map(|number| format!("package/many/{number}")).collect();
    let mut many: Vec<TarEntry> = names.iter().map(|name| TarEntry::File(name, b"")).collect();
    many.push(ECHO);
    registry.npm("server", &fields, &many);
    assert_says(&install(large, large, 1000).unwrap_err(), "more than 1000 files");
}

#[test]
fn a_registry_that_does_not_answer_is_given_up() {
    let (site, registry) = (Site::new(), Registry::start());
    let mut options = registry.silent_options();
    options.limits.time = Duration::from_millis(1500);
    let error = site.install_with("npm:server@1.0.0", &options).unwrap_err();
    assert!(matches!(error, PackageError::Tool(ToolError::TimedOut { .. })), "{error}");

    let options = registry.silent_options();
    let cancelled = std::sync::Arc::clone(&options.cancelled);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| site.install_with("npm:server@1.0.0", &options));
        registry.wait_for_request("server");
        cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let error = running.join().unwrap().unwrap_err();
        assert!(matches!(error, PackageError::Tool(ToolError::Cancelled)), "{error}");
    });
}

#[test]
fn what_npm_says_is_encoded() {
    let (site, registry) = (Site::new(), Registry::start());
    registry.npm("server", &json!({ "dependencies": { "inner": "1.0.0 \u{1b}[2J\u{202e}evil" } }), &[]);
    let error = site.install("npm:server@1.0.0", &registry).unwrap_err().to_string();
    assert!(error.contains("npm failed") && !error.contains(['\u{1b}', '\u{202e}']), "{error}");
}

/// Calls every function that starts a program, in each way that an ES module can import it. Prints those that start
/// one.
const STARTS: &str = r#"
import * as processes from "node:child_process";
import { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
if (process.env.LOAD_GUARD) {
  createRequire(`${process.cwd()}/`)("./guard.cjs");
}
const named = { exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };
for (const functions of [named, processes, processes.default]) {
  for (const name of Object.keys(named)) {
    try {
      functions[name]("true");
      console.log(name);
    } catch (error) {
      if (!error.message.includes("does not let npm start programs")) {
        throw error;
      }
    }
  }
}
"#;

#[test]
fn an_es_module_starts_no_programs_even_if_it_was_loaded_before_the_guard() {
    let site = Site::new();
    std::fs::write(site.folder.path().join("guard.cjs"), include_str!("../src/npm/guard.cjs")).unwrap();
    let started = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut node = Command::new("node");
        node.args(arguments).args(["--input-type=module", "--eval", STARTS]);
        let output = node.envs(variables.iter().copied()).current_dir(site.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(started(&["--require=./guard.cjs"], &[]), "");
    assert_eq!(started(&[], &[("LOAD_GUARD", "1")]), "");
    // Without the guard, each of them does.
    assert_eq!(started(&[], &[]).lines().count(), 3 * 7);
}
