//! Archives of package registries: fetched by their package managers, checked, and unpacked into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, process};

/// pip asks a source package for its metadata even when it only downloads. This replacement for the package's build
/// backend answers, so that neither the package's code nor its build backend is fetched or run.
const STAND_IN: &str = "\
import os, sys
def prepare_metadata_for_build_wheel(directory, settings=None):
    name = '{name}-{version}.dist-info'
    os.makedirs(os.path.join(directory, name))
    with open(os.path.join(directory, name, 'METADATA'), 'w') as file:
        file.write('Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n')
    return name
def build_wheel(directory, settings=None, metadata=None):
    raise SystemExit('nothing is built here')
__legacy__ = sys.modules[__name__]
";

/// An archive with pinned content.
pub(super) struct Archive {
    pub(super) registry: Registry,
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) digest: &'static str,
}

/// The registry of an archive.
pub(super) enum Registry {
    Npm,
    /// The source package's build backend, as a module name.
    Python {
        builder: &'static str,
    },
}

/// Some files of an archive.
pub(super) struct SelectedFiles {
    pub(super) archive: Archive,
    /// The folder of the files in the archive.
    pub(super) folder: &'static str,
    /// The file name that the tests use, and the path in the folder.
    pub(super) files: &'static [(&'static str, &'static str)],
}

impl Archive {
    /// Returns the cache folder that contains the checked and unpacked archive, after `finish` has processed it.
    pub(super) fn unpacked(&self, finish: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let key = format!("{}-{}-{}", self.name, self.version, &self.digest[..16]);
        cache::entry(&cache::folder("suites")?, &key, |partial| {
            process::run_aside(&mut self.unpack_command(partial)?)?;
            finish(partial)
        })
    }

    /// Fetches the archive into a folder, checks it, and returns the command that unpacks it there. A path may be
    /// added.
    pub(super) fn unpack_command(&self, folder: &Path) -> Result<Command> {
        let Self { registry, name, version, digest } = self;
        eprintln!("suites: fetching {name} {version}");
        let suffix = match registry {
            Registry::Npm => "tgz",
            Registry::Python { .. } => "tar.gz",
        };
        match registry {
            Registry::Npm => fetch_npm(name, version, folder)?,
            Registry::Python { builder } => fetch_python(name, version, builder, folder)?,
        }
        // A name with a scope, such as `@scope/name`, has another form in a file name.
        let stem = name.trim_start_matches('@').replace('/', "-");
        let file = folder.join(format!("{stem}-{version}.{suffix}"));
        let found = cache::digest(&fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
        ensure!(found == *digest, "{name} {version} does not have the pinned content: its SHA-256 is {found}");
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(file).arg("-C").arg(folder);
        Ok(tar)
    }
}

fn fetch_npm(name: &str, version: &str, folder: &Path) -> Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", &format!("{name}@{version}")]).current_dir(folder);
    process::run_aside(&mut npm).with_context(|| format!("npm cannot fetch {name}: install npm, or check its network"))
}

fn fetch_python(name: &str, version: &str, builder: &str, folder: &Path) -> Result<()> {
    let module = folder.join("stand-in").join(builder.replace('.', "/")).with_extension("py");
    let package = module.parent().context("a build backend must be a module of a package")?;
    fs::create_dir_all(package)?;
    fs::write(package.join("__init__.py"), "")?;
    fs::write(&module, STAND_IN.replace("{name}", name).replace("{version}", version))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:"]);
    pip.args(["--no-build-isolation", "--dest", ".", &format!("{name}=={version}")]);
    pip.current_dir(folder).env("PYTHONPATH", folder.join("stand-in"));
    process::run_aside(&mut pip).with_context(|| format!("pip cannot fetch {name}: install pip, or check its network"))
}
