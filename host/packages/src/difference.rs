//! What an update of a package changes in its dependencies, as data and as text for a person.

use portcullis_definitions::text::OneLine;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::installed::InstalledPackage;
use crate::manifest::Dependency;
use crate::spec::PackageSpec;

/// The difference between two installed packages. Each list is sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageDifference {
    /// What was installed.
    pub old: PackageSpec,
    /// What is installed now.
    pub new: PackageSpec,
    /// Dependencies that are new.
    pub added: Vec<DependencyVersions>,
    /// Dependencies that are gone.
    pub removed: Vec<DependencyVersions>,
    /// Dependencies in other versions.
    pub changed: Vec<VersionChange>,
    /// Dependencies with versions that have another content now, and those versions. A registry never does that by
    /// itself. If other versions of the dependency came or went, it is in `changed` too.
    pub republished: Vec<DependencyVersions>,
}

/// A dependency and its versions. A package of npm can have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyVersions {
    /// The name.
    pub name: String,
    /// The versions, sorted as text.
    pub versions: Vec<String>,
}

/// A dependency in other versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionChange {
    /// The name.
    pub name: String,
    /// The versions before.
    pub old: Vec<String>,
    /// The versions now.
    pub new: Vec<String>,
}

/// Compares the dependencies of two installed packages.
pub fn difference(old: &InstalledPackage, new: &InstalledPackage) -> PackageDifference {
    compare(old.spec(), old.dependencies(), new.spec(), new.dependencies())
}

/// The hashes of the archives of a dependency, by its version.
type Versions<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn by_name(dependencies: &[Dependency]) -> BTreeMap<&str, Versions<'_>> {
    let mut names: BTreeMap<&str, Versions> = BTreeMap::new();
    for Dependency { name, version, integrity, .. } in dependencies {
        names.entry(name).or_default().entry(version).or_default().insert(integrity);
    }
    names
}

/// Returns the versions that are in both, but with other hashes now.
fn republished<'a>(before: &Versions<'a>, now: &Versions<'a>) -> Versions<'a> {
    let is_other = |version: &str, hashes| before.get(version).is_some_and(|old| old != hashes);
    let other = now.iter().filter(|(version, hashes)| is_other(version, *hashes));
    other.map(|(version, hashes)| (*version, hashes.clone())).collect()
}

fn compare(old: &PackageSpec, before: &[Dependency], new: &PackageSpec, after: &[Dependency]) -> PackageDifference {
    let (before, after) = (by_name(before), by_name(after));
    let list = |versions: &Versions| versions.keys().map(|version| (*version).to_owned()).collect::<Vec<_>>();
    let named =
        |name: &str, versions: &Versions| DependencyVersions { name: name.to_owned(), versions: list(versions) };
    let mut difference = PackageDifference {
        old: old.clone(),
        new: new.clone(),
        added: Vec::new(),
        removed: Vec::new(),
        changed: Vec::new(),
        republished: Vec::new(),
    };
    for (name, versions) in &before {
        let Some(now) = after.get(name) else {
            difference.removed.push(named(name, versions));
            continue;
        };
        if now.keys().ne(versions.keys()) {
            difference.changed.push(VersionChange { name: (*name).to_owned(), old: list(versions), new: list(now) });
        }
        // Also if the set of versions changed: a version that is in both sets can still have another content.
        let republished = republished(versions, now);
        if !republished.is_empty() {
            difference.republished.push(named(name, &republished));
        }
    }
    let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
    difference.added.extend(added.map(|(name, versions)| named(name, versions)));
    difference
}

impl PackageDifference {
    /// Returns whether all dependencies are the same.
    pub fn is_empty(&self) -> bool {
        let Self { added, removed, changed, republished, .. } = self;
        added.is_empty() && removed.is_empty() && changed.is_empty() && republished.is_empty()
    }
}

impl fmt::Display for PackageDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old, new, added, removed, changed, republished } = self;
        writeln!(formatter, "{old} -> {new}")?;
        if self.is_empty() {
            return writeln!(formatter, "  no dependency changes");
        }
        for DependencyVersions { name, versions } in republished {
            let versions = versions.join(", ");
            writeln!(formatter, "  ! {} {}: same version, other content", OneLine(name), OneLine(&versions))?;
        }
        for DependencyVersions { name, versions } in added {
            writeln!(formatter, "  + {} {}", OneLine(name), OneLine(&versions.join(", ")))?;
        }
        for VersionChange { name, old, new } in changed {
            let (old, new) = (old.join(", "), new.join(", "));
            writeln!(formatter, "  ~ {} {} -> {}", OneLine(name), OneLine(&old), OneLine(&new))?;
        }
        for DependencyVersions { name, versions } in removed {
            writeln!(formatter, "  - {} {}", OneLine(name), OneLine(&versions.join(", ")))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(name: &str, version: &str, integrity: &str) -> Dependency {
        Dependency {
            name: name.to_owned(),
            version: version.to_owned(),
            place: String::new(),
            integrity: integrity.to_owned(),
            skipped_script: false,
        }
    }

    #[test]
    fn a_difference_shows_what_an_update_brings() {
        let (old, new) = ("npm:server@1.0.0".parse().unwrap(), "npm:server@1.1.0".parse().unwrap());
        let before = [
            dependency("same", "1.0.0", "x"),
            dependency("gone", "1.0.0", "x"),
            dependency("twice", "1.0.0", "x"),
            dependency("twice", "2.0.0", "x"),
            dependency("swapped", "1.0.0", "x"),
        ];
        let after = [
            dependency("same", "1.0.0", "x"),
            dependency("twice", "2.0.0", "x"),
            dependency("swapped", "1.0.0", "y"),
            dependency("new\n", "3.0.0", "x"),
        ];
        let difference = compare(&old, &before, &new, &after);
        assert_eq!(
            difference.to_string(),
            "npm:server@1.0.0 -> npm:server@1.1.0\n  ! swapped 1.0.0: same version, other content\n  + new\\n 3.0.0\n  \
             ~ twice 1.0.0, 2.0.0 -> 2.0.0\n  - gone 1.0.0\n"
        );
        let same = compare(&old, &before, &new, &before);
        assert!(same.is_empty() && same.to_string().ends_with("no dependency changes\n"));
    }

    #[test]
    fn a_republished_version_is_shown_although_other_versions_come_and_go() {
        let (old, new) = ("npm:server@1.0.0".parse().unwrap(), "npm:server@1.1.0".parse().unwrap());
        let before = [dependency("inner", "1.0.0", "x"), dependency("inner", "2.0.0", "x")];
        let one_more = [&before[..], &[dependency("inner", "3.0.0", "x")]].concat();
        let republished = [dependency("inner", "2.0.0", "y"), dependency("inner", "3.0.0", "x")];
        let difference = compare(&old, &before, &new, &republished);
        assert_eq!(
            difference.to_string(),
            "npm:server@1.0.0 -> npm:server@1.1.0\n  ! inner 2.0.0: same version, other content\n  \
             ~ inner 1.0.0, 2.0.0 -> 2.0.0, 3.0.0\n"
        );
        assert_eq!(compare(&old, &before, &new, &one_more).republished, []);
        // Of several versions, only the one with other content is named.
        let one_of_two = [dependency("inner", "1.0.0", "x"), dependency("inner", "2.0.0", "y")];
        let difference = compare(&old, &before, &new, &one_of_two);
        assert_eq!((difference.changed.len(), &difference.republished[0].versions[..]), (0, &["2.0.0".to_owned()][..]));
    }
}
