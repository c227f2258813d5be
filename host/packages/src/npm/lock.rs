//! The lock files of npm. Packages wrote most of what is in them, so nothing in them is trusted before it is checked.

use cap_std::fs::Dir;
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

use super::document::{MODULES, read_json};
use crate::manifest::Dependency;
use crate::refusal::PackageRefusal;
use crate::spec::PackageSpec;

/// The beginning of a strong hash.
const SHA512: &str = "sha512-";

/// The bytes of a strong hash.
const SHA512_BYTES: usize = 64;

/// The form of lock files that npm 7 and newer write.
const LOCK_VERSIONS: [u64; 2] = [2, 3];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LockDocument {
    lockfile_version: u64,
    packages: BTreeMap<String, LockEntry>,
}

/// A package in a lock file. An absent field is `false` or empty.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct LockEntry {
    name: Option<String>,
    version: Option<String>,
    resolved: Option<String>,
    integrity: Option<String>,
    link: bool,
    in_bundle: bool,
    optional: bool,
    dev_optional: bool,
    has_shrinkwrap: bool,
    has_install_script: bool,
}

/// A lock file whose packages all come from the registry and have a strong hash.
pub(super) struct LockFile {
    packages: BTreeMap<String, LockedPackage>,
}

struct LockedPackage {
    dependency: Dependency,
    /// Whether npm may leave it out, because it is for another platform.
    optional: bool,
}

impl LockFile {
    /// Reads and checks a lock file.
    pub(super) fn read(tree: &Dir, path: &str, packages_max: usize) -> Result<Self, PackageRefusal> {
        let document = serde_json::from_value(read_json(tree, path, "the lock file")?);
        let document: LockDocument = document.map_err(|error| unreadable(error.to_string()))?;
        if !LOCK_VERSIONS.contains(&document.lockfile_version) {
            return Err(unreadable(format!("its version is {}", document.lockfile_version)));
        }
        let mut packages = BTreeMap::new();
        // The entry with the empty place is the root, which this crate has written itself.
        for (place, entry) in document.packages.into_iter().filter(|(place, _)| !place.is_empty()) {
            if packages.len() >= packages_max {
                return Err(PackageRefusal::TooManyPackages { packages_max });
            }
            let package = check(&place, entry)?;
            packages.insert(place, package);
        }
        let lock = Self { packages };
        lock.check_bundled()?;
        Ok(lock)
    }

    /// Checks that the lock file has the requested package.
    pub(super) fn check_requested(&self, spec: &PackageSpec) -> Result<(), PackageRefusal> {
        let place = format!("{MODULES}/{}", spec.name());
        let found = self.packages.get(&place).map(|package| &package.dependency);
        let found = found.ok_or_else(|| unreadable(format!("it does not have {place}")))?;
        match found.name == spec.name() && found.version == spec.version() {
            true => Ok(()),
            false => Err(PackageRefusal::OtherPackage { found: format!("{}@{}", found.name, found.version) }),
        }
    }

    /// Checks that npm installed everything of this lock file that is not optional, and nothing else.
    pub(super) fn check_installed(&self, installed: &Self) -> Result<(), PackageRefusal> {
        let differs = |place: &str| PackageRefusal::NotAsResolved { package: place.to_owned() };
        for (place, package) in &installed.packages {
            match self.packages.get(place) {
                Some(resolved) if resolved.dependency == package.dependency => {}
                Some(_) | None => return Err(differs(place)),
            }
        }
        let missing = |(place, package): &(&String, &LockedPackage)| {
            !package.optional && !installed.packages.contains_key(*place)
        };
        match self.packages.iter().find(missing) {
            Some((place, _)) => Err(differs(place)),
            None => Ok(()),
        }
    }

    /// Returns the packages.
    pub(super) fn into_dependencies(self) -> Vec<Dependency> {
        self.packages.into_values().map(|package| package.dependency).collect()
    }

    /// Checks that each package without a hash lies in one that has a hash.
    fn check_bundled(&self) -> Result<(), PackageRefusal> {
        let separator = format!("/{MODULES}/");
        let hashed =
            |place: &str| self.packages.get(place).is_some_and(|holder| !holder.dependency.integrity.is_empty());
        for place in self.packages.keys().filter(|place| !hashed(place)) {
            let mut outer = place.as_str();
            let is_held = std::iter::from_fn(|| {
                outer = outer.rsplit_once(&separator)?.0;
                Some(outer)
            })
            .any(hashed);
            if !is_held {
                return Err(PackageRefusal::NoIntegrity { package: place.clone(), algorithm: "SHA-512" });
            }
        }
        Ok(())
    }
}

/// Removes the packages from a lock file that no other package needs. npm leaves some behind when it solves a conflict.
/// It does not know any more whether they come from the registry.
pub(super) fn remove_extraneous(tree: &Dir, path: &str) -> Result<(), PackageRefusal> {
    let mut lock = read_json(tree, path, "the lock file")?;
    let Some(packages) = lock.get_mut("packages").and_then(Value::as_object_mut) else { return Ok(()) };
    let count = packages.len();
    packages.retain(|_, package| package.get("extraneous") != Some(&Value::Bool(true)));
    if packages.len() == count {
        return Ok(());
    }
    tree.write(path, lock.to_string()).map_err(|error| unreadable(error.to_string()))
}

fn unreadable(problem: String) -> PackageRefusal {
    PackageRefusal::Document { document: "the lock file", tool: "npm", problem }
}

fn check(place: &str, entry: LockEntry) -> Result<LockedPackage, PackageRefusal> {
    let separator = format!("{MODULES}/");
    let folder = place.rsplit_once(&separator).map(|(_, name)| name).filter(|_| place.starts_with(&separator));
    let Some(folder) = folder else {
        return Err(foreign(place, "a folder".to_owned()));
    };
    if entry.link {
        return Err(foreign(place, entry.resolved.unwrap_or_else(|| "a link".to_owned())));
    }
    // npm is told to leave out the addresses of the registry, so any address is of another source.
    if let Some(resolved) = entry.resolved {
        return Err(foreign(place, resolved));
    }
    if entry.has_shrinkwrap {
        return Err(PackageRefusal::OwnLockFile { package: place.to_owned() });
    }
    let version = entry.version.ok_or_else(|| unreadable(format!("{place} has no version")))?;
    let integrity = match entry.integrity.as_deref().and_then(strong_hash) {
        Some(hash) => hash.to_owned(),
        // `check_bundled` requires that the archive around it has a hash.
        None if entry.in_bundle => String::new(),
        None => return Err(PackageRefusal::NoIntegrity { package: place.to_owned(), algorithm: "SHA-512" }),
    };
    // An alias has the name of its folder, and the real name in the entry.
    let name = entry.name.unwrap_or_else(|| folder.to_owned());
    let skipped_script = entry.has_install_script;
    let dependency = Dependency { name, version, place: place.to_owned(), integrity, skipped_script };
    Ok(LockedPackage { dependency, optional: entry.optional || entry.dev_optional })
}

fn foreign(place: &str, source_address: String) -> PackageRefusal {
    PackageRefusal::ForeignSource { package: place.to_owned(), source_address }
}

/// Returns the SHA-512 of an integrity text, which can have several hashes. npm checks the strongest.
fn strong_hash(integrity: &str) -> Option<&str> {
    integrity.split_ascii_whitespace().find(|hash| {
        let digits = hash.strip_prefix(SHA512);
        let bytes = digits.and_then(|digits| BASE64.decode(digits.as_bytes()).ok());
        bytes.is_some_and(|bytes| bytes.len() == SHA512_BYTES)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(entry: &str, place: &str) -> Result<Dependency, String> {
        let entry = serde_json::from_str(entry).unwrap();
        check(place, entry).map(|package| package.dependency).map_err(|error| error.to_string())
    }

    #[test]
    fn a_package_that_is_not_pinned_by_the_registry_is_refused() {
        let hash = format!("sha512-{}", BASE64.encode(&[7; 64]));
        let good = format!(r#"{{"version": "1.0.0", "integrity": "sha1-AAAA {hash}"}}"#);
        assert_eq!(checked(&good, "node_modules/@a/b").unwrap().integrity, hash);
        let refused = |entry: &str, place: &str, why: &str| {
            let error = checked(entry, place).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(&good, "packages/b", "a folder");
        refused(r#"{"version": "1.0.0"}"#, "node_modules/b", "no SHA-512");
        refused(r#"{"version": "1.0.0", "integrity": "sha1-AAAA"}"#, "node_modules/b", "no SHA-512");
        refused(r#"{"version": "1.0.0", "integrity": "sha512-AAAA"}"#, "node_modules/b", "no SHA-512");
        refused(r#"{"version": "1.0.0", "resolved": "git+ssh://a\n"}"#, "node_modules/b", "git+ssh://a\\n");
        refused(r#"{"link": true, "resolved": "../x"}"#, "node_modules/b", "../x");
        refused(&good.replace('}', r#", "hasShrinkwrap": true}"#), "node_modules/b", "npm-shrinkwrap.json");
    }

    #[test]
    fn a_bundled_package_is_pinned_by_the_package_around_it() {
        let package = |place: &str, integrity: &str| {
            let (place, integrity) = (place.to_owned(), integrity.to_owned());
            let (name, version) = ("a".to_owned(), "1.0.0".to_owned());
            let dependency = Dependency { name, version, place: place.clone(), integrity, skipped_script: false };
            (place, LockedPackage { dependency, optional: false })
        };
        let around = package("node_modules/a", "sha512-");
        let inner = package("node_modules/a/node_modules/b/node_modules/c", "");
        assert!(LockFile { packages: [around, inner].into() }.check_bundled().is_ok());
        let alone = package("node_modules/b/node_modules/c", "");
        assert!(LockFile { packages: [alone].into() }.check_bundled().is_err());
    }

    #[test]
    fn a_package_that_no_other_needs_leaves_the_lock_file() {
        let folder = tempfile::tempdir().unwrap();
        let tree = crate::folder::open_directory(folder.path()).unwrap();
        let hash = format!("sha512-{}", BASE64.encode(&[7; 64]));
        let lock = serde_json::json!({ "lockfileVersion": 3, "packages": {
            "": {},
            "node_modules/a": { "version": "1.0.0", "integrity": hash },
            "node_modules/b": { "version": "1.0.0", "resolved": "https://x/", "extraneous": true },
        } });
        tree.write("lock", lock.to_string()).unwrap();
        assert!(LockFile::read(&tree, "lock", 10).is_err());
        remove_extraneous(&tree, "lock").unwrap();
        let lock = LockFile::read(&tree, "lock", 10).unwrap();
        assert_eq!(lock.packages.keys().collect::<Vec<_>>(), ["node_modules/a"]);
        assert!(matches!(LockFile::read(&tree, "lock", 0), Err(PackageRefusal::TooManyPackages { .. })));
    }
}
