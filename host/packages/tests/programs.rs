//! Which program of a package is its server.

use portcullis_packages::{InstallOptions, PackageKind, Runtime, ToolEnvironment, difference};
use serde_json::json;
use std::path::Path;
use std::process::Command;

use crate::archive::TarEntry;
use crate::registry::{Registry, wheel};
use crate::setup::{Site, assert_says};

const SCRIPT: TarEntry<'static> = TarEntry::File("package/cli.js", b"");

#[test]
fn one_of_several_programs_is_chosen_by_name() {
    let (site, registry) = (Site::new(), Registry::start());
    registry.npm("@a/server", &json!({ "bin": { "one": "cli.js", "two": "./cli" } }), &[SCRIPT]);
    registry.npm("@a/own", &json!({ "bin": { "own": "cli.js", "own-tool": "cli.js" } }), &[SCRIPT]);
    let runtime = Runtime::find(PackageKind::Npm, &ToolEnvironment::default()).unwrap();

    let package = site.install("npm:@a/server@1.0.0", &registry).unwrap();
    let error = package.command(&runtime, None, None).unwrap_err();
    assert_eq!(error.to_string(), "npm:@a/server@1.0.0 has several programs. Choose one of: one, two");
    let error = package.command(&runtime, Some("three\n"), None).unwrap_err();
    let expected = "npm:@a/server@1.0.0 has no program named `three\\n`. Choose one of: one, two";
    assert_eq!(error.to_string(), expected);
    let command = package.command(&runtime, Some("two"), Some(Path::new("/server"))).unwrap();
    assert_eq!(command.arguments, ["/server/node_modules/@a/server/cli.js"]);
    assert!(command.program.is_absolute());

    let package = site.install("npm:@a/own@1.0.0", &registry).unwrap();
    assert!(package.command(&runtime, None, None).is_ok());
    let python = Runtime::find(PackageKind::Pypi, &ToolEnvironment::default()).unwrap();
    assert_says(&package.command(&python, None, None).unwrap_err(), "but this machine has cpython-");
}

#[test]
fn a_package_without_a_usable_program_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    for (bin, why) in [
        (json!(null), "has no program to start"),
        (json!({ "a": "../../../../etc/passwd" }), "leads out of the package"),
        (json!({ "a": "run.sh" }), "not a script of Node.js"),
    ] {
        let shell = TarEntry::File("package/run.sh", b"#!/bin/sh\n");
        registry.npm("server", &json!({ "bin": bin }), &[shell]);
        let error = site.install("npm:server@1.0.0", &registry).unwrap_err();
        assert_says(&error, why);
    }
    let entry_points = b"[console_scripts]\nserver = os:system('id')\n".as_slice();
    for (files, why) in [
        (vec![], "has no program to start"),
        (vec![("server-1.0.0.dist-info/entry_points.txt", entry_points)], "does not name a function"),
    ] {
        let registry = Registry::start();
        let content = wheel("server", "server", &[], &files);
        registry.index_file("server", "server-1.0.0-py3-none-any.whl", &content, None);
        assert_says(&site.install("pypi:server==1.0.0", &registry).unwrap_err(), why);
    }
}

#[test]
fn a_missing_tool_is_named_with_its_remedy() {
    let site = Site::new();
    let mut options = InstallOptions::default();
    options.environment = options.environment.with("PATH", "/nonexistent");
    let error = site.install_with("npm:server@1.0.0", &options).unwrap_err();
    assert_says(&error, "node was not found, or is too old. Install Node.js 20 or newer with npm");
    let error = site.install_with("pypi:server==1.0.0", &options).unwrap_err();
    assert_says(&error, "python3 was not found, or is too old. Install Python 3.10 or newer");

    let environment = site.folder.path().join("environment");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&environment).status().unwrap();
    assert!(made.success());
    options.environment = options.environment.with("PATH", environment.join("bin"));
    let error = site.install_with("pypi:server==1.0.0", &options).unwrap_err();
    assert_says(&error, "pip was not found, or is too old. Install pip 23.0 or newer");
}

#[test]
fn an_update_shows_which_dependencies_it_changes() {
    let (site, registry) = (Site::new(), Registry::start());
    registry.npm("inner", &json!({}), &[]);
    registry.npm("inner", &json!({ "version": "2.0.0" }), &[]);
    registry.npm("new", &json!({}), &[]);
    registry.npm("server", &json!({ "bin": "cli.js", "dependencies": { "inner": "1.0.0" } }), &[SCRIPT]);
    let dependencies = json!({ "inner": "2.0.0", "new": "1.0.0" });
    registry.npm("server", &json!({ "version": "1.1.0", "bin": "cli.js", "dependencies": dependencies }), &[SCRIPT]);
    let old = site.install("npm:server@1.0.0", &registry).unwrap();
    let new = site.install("npm:server@1.1.0", &registry).unwrap();
    assert_eq!(
        difference(&old, &new).to_string(),
        "npm:server@1.0.0 -> npm:server@1.1.0\n  + new 1.0.0\n  ~ inner 1.0.0 -> 2.0.0\n  ~ server 1.0.0 -> 1.1.0\n"
    );
    assert_eq!(site.store.list().unwrap().len(), 2);
}

/// Runs with the npm that Node.js 20 brings. It knows no setting against repositories, so only the guard holds it back.
#[test]
fn an_older_npm_installs_too_but_starts_no_git() {
    let (site, registry) = (Site::new(), Registry::start());
    let npm = site.install_with("npm:npm@10.8.2", &InstallOptions::default()).unwrap();
    let programs = site.folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(npm.path().join("node_modules/npm/bin/npm-cli.js"), programs.join("npm")).unwrap();
    let mut options = registry.options();
    let path = std::env::var("PATH").unwrap();
    options.environment = options.environment.with("PATH", format!("{}:{path}", programs.display()));

    registry.npm("inner", &json!({}), &[]);
    registry.npm("server", &json!({ "bin": "cli.js", "dependencies": { "inner": "1.0.0" } }), &[SCRIPT]);
    let package = site.install_with("npm:server@1.0.0", &options).unwrap();
    assert_eq!(package.dependencies().len(), 2);

    let repository = format!("git+file://{}", site.folder.path().join("repository").display());
    registry.npm("git", &json!({ "bin": "cli.js", "dependencies": { "inner": repository } }), &[SCRIPT]);
    let error = site.install_with("npm:git@1.0.0", &options).unwrap_err();
    assert_says(&error, "Portcullis does not let npm start programs");
}
