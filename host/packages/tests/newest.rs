//! The newest version of a package that is written without one.

use crate::registry::Registry;
use crate::setup::{Site, assert_says};
use portcullis_packages::PackageKind;
use serde_json::json;

#[test]
fn the_newest_version_is_asked_of_the_registry() {
    let (site, registry) = (Site::new(), Registry::start());
    for version in ["1.0.0", "1.2.0", "2.0.0"] {
        registry.npm("server", &json!({ "version": version }), &[]);
    }
    registry.wheel("served", &[], &[("served/__init__.py", b"")]);
    let newest = |kind, name, range| site.store.newest(kind, name, range, &registry.options());
    let npm = |range| newest(PackageKind::Npm, "server", range).map(|spec| spec.to_string());
    assert_eq!(npm(None).unwrap(), "npm:server@2.0.0");
    assert_eq!(npm(Some("latest")).unwrap(), "npm:server@2.0.0");
    assert_eq!(npm(Some("^1.0.0")).unwrap(), "npm:server@1.2.0");
    assert_eq!(newest(PackageKind::Pypi, "Served", None).unwrap().to_string(), "pypi:served==1.0.0");
    assert!(npm(Some("9")).is_err() && newest(PackageKind::Npm, "nowhere", None).is_err());
    assert!(newest(PackageKind::Pypi, "nowhere", None).is_err());
    assert_eq!(site.unfinished(), 0);
}

#[test]
fn a_name_that_is_none_never_reaches_a_tool() {
    let (site, registry) = (Site::new(), Registry::start());
    for (kind, name, range) in [
        (PackageKind::Npm, "--registry=x", None),
        (PackageKind::Npm, "github:a/b", None),
        (PackageKind::Npm, "./a", None),
        (PackageKind::Npm, "a", Some("npm:b")),
        (PackageKind::Npm, "a", Some("https://x/y.tgz")),
        (PackageKind::Npm, "a", Some("$(id)")),
        (PackageKind::Pypi, "--index-url=x", None),
        (PackageKind::Pypi, "a @ https://x", None),
    ] {
        assert!(site.store.newest(kind, name, range, &registry.options()).is_err(), "{name}");
    }
    assert_eq!(registry.requests(), [""; 0]);
}

#[test]
fn a_range_that_npm_reads_as_a_file_or_directory_is_refused() {
    let (site, registry) = (Site::new(), Registry::start());
    registry.npm("a", &json!({}), &[]);
    // From the work folder, `..` is the folder of packages.
    std::fs::write(site.store.path().join("package.json"), r#"{"name":"a","version":"6.6.6"}"#).unwrap();
    for (name, range) in [("a", Some("..")), ("a", Some(".")), ("a", Some("x.tgz")), ("x.tgz", None)] {
        let error = site.store.newest(PackageKind::Npm, name, range, &registry.options()).unwrap_err();
        assert_says(&error, "does not name a package of the registry");
    }
    assert_eq!(registry.requests(), [""; 0]);
    let latest = site.store.newest(PackageKind::Npm, "a", Some("latest"), &registry.options()).unwrap();
    assert_eq!(latest.to_string(), "npm:a@1.0.0");
}
