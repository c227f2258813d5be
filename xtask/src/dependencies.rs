//! Checks that a crate does not depend on what it exists to forbid. `Cargo.lock` has every dependency by its real name,
//! however a manifest renames it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

/// Dependencies that only one crate under `host/` may name, each with that crate. A name also stands for the crates
/// whose names begin with it and a hyphen.
const OWNED: [(&str, &str); 4] = [
    ("object_store", "portcullis-ledger"),
    ("rusqlite", "portcullis-ledger"),
    ("tokio-postgres", "portcullis-ledger"),
    ("wasmtime", "portcullis-sandbox"),
];

/// Crates that compute from values in memory.
const PURE_CRATES: [&str; 2] = ["portcullis-definitions", "portcullis-policy-edit"];

/// What a pure crate must not reach through any number of dependencies: async runtimes, the engine, and crates that
/// open files.
const IMPURE: [&str; 9] =
    ["cap-primitives", "cap-std", "cap-fs-ext", "fs-err", "rusqlite", "rustix", "tempfile", "tokio", "wasmtime"];

/// Modules of the standard library that a pure crate must not name.
const IMPURE_MODULES: [&str; 4] = ["std::env", "std::fs", "std::net", "std::process"];

/// The content of `Cargo.lock`.
#[derive(Deserialize)]
struct LockFile {
    package: Vec<LockedPackage>,
}

/// A package in `Cargo.lock`. A dependency is a name, and a version after it if the name alone is ambiguous.
#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Returns a finding for each forbidden dependency. `lock` is the text of `Cargo.lock`, and `hosts` are the names of
/// the packages under `host/`.
///
/// # Errors
/// The lock file cannot be parsed.
pub(crate) fn find(lock: &str, hosts: &BTreeSet<String>) -> Result<Vec<String>> {
    let lock: LockFile = toml::from_str(lock).context("Cargo.lock cannot be parsed")?;
    let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &lock.package {
        let names = package.dependencies.iter().filter_map(|dependency| dependency.split(' ').next());
        packages.entry(&package.name).or_default().extend(names);
    }
    let mut findings = Vec::new();
    for (package, names) in packages.iter().filter(|(package, _)| hosts.contains(**package)) {
        let taken = |(owned, owner): &&(&str, &str)| owner != package && names.iter().any(|name| is_of(name, owned));
        for (owned, owner) in OWNED.iter().filter(taken) {
            findings.push(format!("{package} depends on {owned}: only {owner} may"));
        }
    }
    for package in PURE_CRATES {
        let reached = reached(&packages, package);
        for (name, through) in reached.iter().filter(|(name, _)| IMPURE.iter().any(|impure| is_of(name, impure))) {
            findings.push(format!("{package} reaches {name} through {through}: it must stay pure"));
        }
    }
    Ok(findings)
}

/// Returns the modules of the standard library that a source of a pure crate names and must not. `package` is the
/// crate's name.
pub(crate) fn impure_modules(package: &str, text: &str) -> Vec<(usize, &'static str)> {
    if !PURE_CRATES.contains(&package) {
        return Vec::new();
    }
    let named = |(line, text): (usize, &str)| {
        IMPURE_MODULES
            .into_iter()
            .filter(|module| text.contains(module))
            .map(|module| (line, module))
            .collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(named).collect()
}

fn is_of(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns every package that one depends on, each with the one that names it.
fn reached<'a>(packages: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeMap<&'a str, &'a str> {
    let (mut reached, mut next) = (BTreeMap::new(), vec![from]);
    while let Some(package) = next.pop() {
        for name in packages.get(package).into_iter().flatten() {
            if !reached.contains_key(name) {
                reached.insert(*name, package);
                next.push(name);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a lock file from packages and their dependencies.
    fn found(packages: &[(&str, &[&str])]) -> Vec<String> {
        let entry = |(name, dependencies): &(&str, &[&str])| {
            format!("[[package]]\nname = {name:?}\nversion = \"1.0.0\"\ndependencies = {dependencies:?}\n")
        };
        let hosts = packages.iter().map(|(name, _)| (*name).to_owned()).filter(|name| name.starts_with("portcullis"));
        find(&packages.iter().map(entry).collect::<String>(), &hosts.collect()).unwrap()
    }

    #[test]
    fn a_planted_owner_of_another_crate_is_found() {
        let rightful: [(&str, &[&str]); 3] = [
            ("portcullis", &["portcullis-ledger", "portcullis-sandbox"]),
            ("portcullis-ledger", &["rusqlite 0.41.0"]),
            ("portcullis-sandbox", &["wasmtime", "wasmtime-wasi"]),
        ];
        assert_eq!(found(&rightful), [""; 0]);
        let planted = found(&[("portcullis", &["rusqlite"]), ("portcullis-mcp", &["wasmtime-wasi 48.0.8"])]);
        assert_eq!(
            planted,
            [
                "portcullis depends on rusqlite: only portcullis-ledger may",
                "portcullis-mcp depends on wasmtime: only portcullis-sandbox may"
            ]
        );
    }

    #[test]
    fn a_planted_dependency_of_a_pure_crate_is_found_at_any_depth() {
        let pure: [(&str, &[&str]); 2] = [("portcullis-definitions", &["regex", "tokio_like"]), ("regex", &["memchr"])];
        assert_eq!(found(&pure), [""; 0]);
        for (planted, through) in [
            ("tokio", "regex"),
            ("tokio-util", "regex"),
            ("wasmtime", "regex"),
            ("cap-std", "regex"),
            ("rustix", "regex"),
        ] {
            let packages: [(&str, &[&str]); 2] = [("portcullis-definitions", &["regex"]), ("regex", &[planted])];
            let expected = format!("portcullis-definitions reaches {planted} through {through}: it must stay pure");
            assert_eq!(found(&packages), [expected]);
        }
        assert_eq!(found(&[("portcullis-definitions", &["tokio"])]).len(), 1);
    }

    #[test]
    fn a_planted_file_access_of_a_pure_crate_is_found() {
        let text = "use std::fmt;\nfn f() { let _ = std::fs::File::open(\"a\"); }\n";
        assert_eq!(impure_modules("portcullis-definitions", text), [(1, "std::fs")]);
        assert_eq!(impure_modules("portcullis-ledger", text), []);
    }
}
