//! Real servers from the registries: they are installed once, and start from their read-only folders.

use portcullis_packages::InstallOptions;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::setup::{Site, command_of, first_line};

/// Installs a package, starts its server, and checks what it says about itself.
fn check_server(site: &Site, spec: &str, arguments: &[&str]) {
    let package = site.install_with(spec, &InstallOptions::default()).unwrap();
    package.verify().unwrap();
    assert_eq!(package.spec().to_string(), spec);
    assert!(package.dependencies().iter().any(|dependency| dependency.name == package.spec().name()));
    assert!(package.dependencies().iter().all(|dependency| !dependency.integrity.is_empty()));
    assert_read_only(package.path());

    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    } });
    let answer = first_line(&command_of(&package), arguments, &hello.to_string());
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}"));
    assert!(answer["result"]["serverInfo"]["name"].is_string(), "{answer}");
    // The server has written nothing into its folder, even if the test runs as root.
    package.verify().unwrap();
}

/// Checks that nothing in a folder has a permission to write.
fn assert_read_only(path: &Path) {
    let metadata = std::fs::symlink_metadata(path).unwrap();
    if metadata.is_symlink() {
        return;
    }
    assert_eq!(metadata.permissions().mode() & 0o222, 0, "{}", path.display());
    if metadata.is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| assert_read_only(&entry.unwrap().path()));
    }
}

#[test]
fn a_server_of_npm_starts_from_its_folder() {
    check_server(&Site::new(), "npm:@modelcontextprotocol/server-memory@2026.8.31", &[]);
}

#[test]
fn the_example_server_of_npm_starts_from_its_folder() {
    check_server(&Site::new(), "npm:@modelcontextprotocol/server-everything@2026.8.31", &["stdio"]);
}

#[test]
fn a_server_of_pypi_starts_from_its_folder() {
    check_server(&Site::new(), "pypi:mcp-server-time==2026.10.19", &["--local-timezone", "UTC"]);
}
