//! The report of pip: which files it would install. Packages wrote parts of it, so it is checked.

use cap_std::fs::Dir;
use data_encoding::HEXLOWER;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::bounded_file;
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::manifest::Dependency;
use crate::refusal::PackageRefusal;
use crate::spec::{PackageSpec, PypiVersion, normalized_name};

/// The bytes of a SHA-256.
const SHA256_BYTES: usize = 32;

#[derive(Deserialize)]
struct ReportDocument {
    version: String,
    install: Vec<ReportEntry>,
}

#[derive(Deserialize)]
struct ReportEntry {
    download_info: DownloadInfo,
    is_direct: bool,
    requested: bool,
    metadata: PackageMetadata,
}

#[derive(Deserialize)]
struct DownloadInfo {
    url: String,
    #[serde(default)]
    archive_info: ArchiveInfo,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ArchiveInfo {
    hashes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct PackageMetadata {
    name: String,
    version: String,
}

/// A report whose files are all wheels of an index and have a strong hash.
pub(super) struct Report {
    wheels: Vec<ResolvedWheel>,
}

struct ResolvedWheel {
    name: String,
    version: String,
    sha256: String,
    requested: bool,
}

impl Report {
    /// Reads and checks a report.
    pub(super) fn read(folder: &Dir, path: &str, packages_max: usize) -> Result<Self, PackageRefusal> {
        let bytes =
            bounded_file::read(folder, path, DOCUMENT_BYTES_MAX).map_err(|error| unreadable(error.to_string()))?;
        let report: ReportDocument = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if report.version != "1" {
            return Err(unreadable(format!("its version is {}", report.version)));
        }
        if report.install.len() > packages_max {
            return Err(PackageRefusal::TooManyPackages { packages_max });
        }
        Ok(Self { wheels: report.install.into_iter().map(check).collect::<Result<_, _>>()? })
    }

    /// Checks that pip resolved the requested package.
    pub(super) fn check_requested(&self, spec: &PackageSpec) -> Result<(), PackageRefusal> {
        let found: Vec<&ResolvedWheel> = self.wheels.iter().filter(|wheel| wheel.requested).collect();
        let same = |wheel: &ResolvedWheel| {
            let version = PypiVersion::parse(&wheel.version);
            wheel.name == spec.name() && version.is_some() && version == PypiVersion::parse(spec.version())
        };
        match found.as_slice() {
            [wheel] if same(wheel) => Ok(()),
            [wheel] => Err(PackageRefusal::OtherPackage { found: format!("{}=={}", wheel.name, wheel.version) }),
            _ => Err(unreadable("it does not have exactly one requested package".to_owned())),
        }
    }

    /// Returns the name and the version of the requested package.
    pub(super) fn requested(&self) -> Option<(&str, &str)> {
        let mut found = self.wheels.iter().filter(|wheel| wheel.requested);
        let ResolvedWheel { name, version, .. } = found.next().filter(|_| found.next().is_none())?;
        Some((name, version))
    }

    /// Returns the list of files for pip, with their hashes. Names and versions were checked, so they are only that.
    pub(super) fn requirements(&self) -> String {
        self.wheels.iter().fold(String::new(), |mut text, ResolvedWheel { name, version, sha256, .. }| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}=={version} --hash=sha256:{sha256}");
            text
        })
    }

    /// Returns the packages.
    pub(super) fn into_dependencies(self) -> Vec<Dependency> {
        let dependency = |ResolvedWheel { name, version, sha256, .. }| {
            let integrity = format!("sha256:{sha256}");
            Dependency { name, version, place: String::new(), integrity, skipped_script: false }
        };
        self.wheels.into_iter().map(dependency).collect()
    }
}

fn unreadable(problem: String) -> PackageRefusal {
    PackageRefusal::Document { document: "the report", tool: "pip", problem }
}

fn check(entry: ReportEntry) -> Result<ResolvedWheel, PackageRefusal> {
    let ReportEntry { download_info, is_direct, requested, metadata: PackageMetadata { name, version } } = entry;
    let path = download_info.url.split(['?', '#']).next().unwrap_or_default();
    // A package can require another one by its URL (PEP 508).
    if is_direct || !path.ends_with(".whl") {
        return Err(PackageRefusal::ForeignSource {
            package: name,
            source_address: without_secrets(&download_info.url),
        });
    }
    // The name and the version become lines of a file that pip reads.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) || PypiVersion::parse(&version).is_none() {
        return Err(unreadable(format!("{name} {version} is not a package in a version")));
    }
    let hash = download_info.archive_info.hashes.get("sha256").map(|hash| hash.to_ascii_lowercase());
    let bytes = |hash: &String| HEXLOWER.decode(hash.as_bytes()).is_ok_and(|bytes| bytes.len() == SHA256_BYTES);
    match hash.filter(bytes) {
        Some(sha256) => Ok(ResolvedWheel { name: normalized_name(&name), version, sha256, requested }),
        None => Err(PackageRefusal::NoIntegrity { package: name, algorithm: "SHA-256" }),
    }
}

/// Removes the name and password of a user from an address.
fn without_secrets(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            let secrets = host.rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[secrets..])
        }
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn entry() -> Value {
        json!({
            "download_info": { "url": "https://x/a-1.0-py3-none-any.whl", "archive_info": { "hashes": { "sha256": "0a".repeat(32) } } },
            "is_direct": false, "requested": true, "metadata": { "name": "A_b", "version": "1.0" },
        })
    }

    fn checked(entry: Value) -> Result<String, String> {
        let wheel = check(serde_json::from_value(entry).unwrap()).map_err(|error| error.to_string())?;
        Ok(Report { wheels: vec![wheel] }.requirements())
    }

    #[test]
    fn a_wheel_of_an_index_is_pinned_by_its_hash() {
        assert_eq!(checked(entry()).unwrap(), format!("a-b==1.0 --hash=sha256:{}\n", "0a".repeat(32)));
    }

    #[test]
    fn anything_else_is_refused() {
        for (pointer, value, why) in [
            ("/is_direct", json!(true), "comes from https://x/a-1.0"),
            ("/download_info/url", json!("https://me:secret@x/a-1.0.tar.gz"), "comes from https://x/a-1.0.tar.gz"),
            ("/download_info/archive_info/hashes", json!({ "md5": "0a" }), "no SHA-256"),
            ("/download_info/archive_info/hashes/sha256", json!("0a"), "no SHA-256"),
            ("/metadata/name", json!("a\n--index-url=x"), "is not a package"),
            ("/metadata/name", json!(""), "is not a package"),
            ("/metadata/version", json!("1.0 --x"), "is not a package"),
        ] {
            let mut changed = entry();
            *changed.pointer_mut(pointer).unwrap() = value;
            let error = checked(changed).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
