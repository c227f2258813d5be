//! A private apt: downloads and unpacks Debian packages without root and without changing the machine's own apt. Uses
//! the mirror that the machine's apt is configured for.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// The keys that sign Debian's suites. Every package is verified with them.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Names a Debian mirror if the machine's apt has none, for example on Ubuntu.
const MIRROR_VARIABLE: &str = "PORTCULLIS_DEBIAN_MIRROR";

/// A suite and the archive that holds it, by the last folder of its address.
#[derive(Clone, Copy)]
pub(super) struct Suite {
    archive: &'static str,
    name: &'static str,
}

/// A suite of the main archive.
pub(super) const fn suite(name: &'static str) -> Suite {
    Suite { archive: "debian", name }
}

/// A suite of the security archive.
pub(super) const fn security(name: &'static str) -> Suite {
    Suite { archive: "debian-security", name }
}

/// An apt that keeps all of its state in one folder.
pub(super) struct Apt {
    folder: PathBuf,
}

impl Apt {
    /// Reads the indexes of `suites` into `folder`.
    pub(super) fn update(folder: PathBuf, suites: &[Suite]) -> Result<Apt> {
        ensure!(Path::new(KEYRING).exists(), "{KEYRING} is missing: install the package debian-archive-keyring");
        let mirror = mirror()?;
        // apt does not create the folders of its state by itself.
        for part in ["lists/partial", "cache/archives/partial", "packages"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let source =
            |suite: &Suite| format!("deb [signed-by={KEYRING}] {mirror}{} {} main\n", suite.archive, suite.name);
        fs::write(folder.join("sources.list"), suites.iter().map(source).collect::<String>())?;
        let apt = Apt { folder };
        process::run_aside(apt.command("apt-get").args(["-qq", "update"]))
            .context("Debian's indexes could not be read: check the network and `apt-get update`")?;
        Ok(apt)
    }

    /// Returns every version of a package, the newest first.
    pub(super) fn versions(&self, package: &str) -> Result<Vec<String>> {
        Ok(versions(&process::capture(self.command("apt-cache").args(["madison", package]))?))
    }

    /// Downloads one version of a package and returns its file.
    pub(super) fn download(&self, package: &str, version: &str) -> Result<PathBuf> {
        let packages = self.folder.join("packages");
        let wanted = format!("{package}={version}");
        process::run_aside(self.command("apt-get").args(["-qq", "download", &wanted]).current_dir(&packages))?;
        // apt encodes the version in the name of the file, for example `:` as `%3a`.
        let prefix = format!("{package}_");
        let mut files = fs::read_dir(&packages)?.filter_map(|file| Some(file.ok()?.path()));
        let found = files.find(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
        found.with_context(|| format!("apt downloaded no {package}"))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let folder = self.folder.display();
        for option in [
            format!("Dir::Etc::sourcelist={folder}/sources.list"),
            format!("Dir::State::lists={folder}/lists"),
            format!("Dir::Cache={folder}/cache"),
        ] {
            command.args(["-o", &option]);
        }
        for option in [
            "Dir::Etc::sourceparts=/dev/null",
            "Dir::State::status=/dev/null",
            // Without root, apt can neither switch to its own user nor take the machine's lock.
            "APT::Sandbox::User=",
            "Debug::NoLocking=1",
            "Acquire::Languages=none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
            "Acquire::Retries=3",
        ] {
            command.args(["-o", option]);
        }
        command
    }
}

/// Unpacks the files of a package whose path matches `pattern` into `directory`.
pub(super) fn unpack(package: &Path, directory: &Path, pattern: &str) -> Result<()> {
    fs::create_dir_all(directory)?;
    let mut tar = Command::new("tar");
    tar.args(["-x", "--wildcards", "-C"]).arg(directory).arg(pattern);
    process::pipe(Command::new("dpkg-deb").arg("--fsys-tarfile").arg(package), &mut tar)
}

/// Returns the parent address of Debian's archives in the machine's apt configuration, with a trailing slash.
fn mirror() -> Result<String> {
    if let Ok(mirror) = env::var(MIRROR_VARIABLE) {
        return Ok(format!("{}/", mirror.trim_end_matches('/')));
    }
    let targets = process::capture(Command::new("apt-get").args(["indextargets", "--format", "$(REPO_URI)"]))
        .context("this is not a Debian system: install the target with rustup, or use a Debian machine")?;
    archives_root(&targets).map(str::to_owned).with_context(|| {
        format!(
            "the machine's apt names no Debian mirror: set {MIRROR_VARIABLE} to the address above its `debian` folder"
        )
    })
}

/// Finds the repository address that ends in `debian`, and returns its parent.
fn archives_root(addresses: &str) -> Option<&str> {
    addresses
        .lines()
        .find_map(|address| address.trim_end_matches('/').strip_suffix("debian"))
        // Another folder, such as `notdebian`, ends in `debian` too.
        .filter(|a| a.ends_with('/'))
}

/// Returns the second column of `apt-cache madison`.
fn versions(madison: &str) -> Vec<String> {
    madison.lines().filter_map(|line| Some(line.split('|').nth(1)?.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_the_second_column_of_madison() {
        let madison = "\
  rust-src | 1.95.0+dfsg1-1~bpo13+1 | http://mirror.test/debian trixie-backports/main amd64 Packages
  rust-src | 1.85.0+dfsg3-1 | http://mirror.test/debian trixie/main amd64 Packages
";
        assert_eq!(versions(madison), ["1.95.0+dfsg1-1~bpo13+1", "1.85.0+dfsg3-1"]);
        assert!(versions("").is_empty());
    }

    #[test]
    fn the_mirror_is_the_parent_of_the_debian_archive() {
        let addresses = "http://mirror.test/x/debian-security/\nhttp://mirror.test/x/debian/\n";
        assert_eq!(archives_root(addresses), Some("http://mirror.test/x/"));
        assert_eq!(archives_root("http://mirror.test/ubuntu/\n"), None);
    }
}
