//! A headless browser: an installed one, or Debian's, unpacked into the cache.
//!
//! Nothing is installed on the machine. Its own apt resolves and downloads the packages that the browser needs and the
//! machine lacks, and checks their signatures. They are unpacked next to the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};

use crate::toolchain::script;
use crate::{cache, process};

/// The variable that selects a browser, and that passes the browser to the tests.
const VARIABLE: &str = "PORTCULLIS_TEST_BROWSER";
/// Browsers with the same command line, in search order.
const PROGRAMS: [&str; 4] = ["chromium-headless-shell", "chromium", "google-chrome", "google-chrome-stable"];
/// The package to fetch. It has no window, and so fewer dependencies than a full browser.
const PACKAGE: &str = "chromium-headless-shell";
/// The path of the program in its package.
const PROGRAM: &str = "usr/lib/chromium/chromium-headless-shell";
/// Increase this when the recipe changes: it is part of the cache key.
const RECIPE: u32 = 1;

/// A browser that is known to start.
pub(super) struct Browser {
    program: PathBuf,
}

impl Browser {
    /// Returns the browser that the variable names, an installed one, the one in the cache, or Debian's.
    pub(super) fn prepare() -> Result<Browser> {
        if let Some(named) = env::var_os(VARIABLE).map(PathBuf::from) {
            ensure!(starts(&named), "{VARIABLE} names {}, which does not start", named.display());
            return Ok(Browser { program: named });
        }
        if let Some(installed) = installed() {
            return Ok(Browser { program: installed });
        }
        fetched().with_context(|| format!("the tests need a browser: install Chromium, or name one in {VARIABLE}"))
    }

    /// Returns the environment variable that passes the browser to the tests.
    pub(super) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        vec![(VARIABLE, self.program.clone())]
    }
}

/// Returns the first browser on `PATH` that starts.
fn installed() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let places = PROGRAMS.iter().flat_map(|program| folders.iter().map(move |folder| folder.join(program)));
    places.filter(|place| place.is_file()).find(|place| starts(place))
}

fn starts(program: &Path) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// Returns Debian's browser, from the cache or from the machine's mirror.
fn fetched() -> Result<Browser> {
    let system = fs::read("/etc/os-release").context("cannot read /etc/os-release: fetching a browser needs Debian")?;
    let recipe = format!("{RECIPE} {}", env::consts::ARCH);
    let key = format!("browser-{}", &cache::digest(&[recipe.as_bytes(), &system].concat())[..16]);
    let folder = cache::folder("clients")?;
    let kept = folder.join(&key);
    // If the machine has lost a library since the browser was fetched, fetch again to get the one that is missing now.
    if kept.exists() && !starts(&kept.join("browser")) {
        fs::remove_dir_all(&kept)?;
    }
    let program = cache::entry(&folder, &key, make)?.join("browser");
    ensure!(starts(&program), "{} does not start", program.display());
    Ok(Browser { program })
}

/// Fetches and unpacks the browser, and writes a script that starts it.
fn make(folder: &Path) -> Result<()> {
    eprintln!("clients: fetching {PACKAGE} from Debian");
    let apt = folder.join("apt");
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(apt.join(part))?;
    }
    process::run_aside(apt_get(&apt).arg("update")).context("`apt-get update` failed")?;
    let install = ["--yes", "--no-install-recommends", "--download-only", "install", PACKAGE];
    process::run_aside(apt_get(&apt).args(install)).with_context(|| format!("apt cannot download {PACKAGE}"))?;
    for entry in fs::read_dir(apt.join("cache/archives"))? {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            process::run_aside(Command::new("dpkg-deb").arg("-x").arg(&package).arg(folder))?;
        }
    }
    fs::remove_dir_all(&apt)?;
    // Documentation and icons, which a headless browser does not read.
    fs::remove_dir_all(folder.join("usr/share"))?;
    let libraries: Vec<String> =
        libraries(&folder.join("usr/lib"))?.into_iter().map(|place| format!("$here/usr/lib/{place}")).collect();
    let body = format!(
        "here=$(cd \"$(dirname \"$0\")\" && pwd)\nLD_LIBRARY_PATH=\"{}\" exec \"$here/{PROGRAM}\" \"$@\"",
        libraries.join(":")
    );
    script(&folder.join("browser"), &body)
}

/// Returns an apt command with its own lists and downloads in `folder`. It needs no root and does not change the
/// machine.
fn apt_get(folder: &Path) -> Command {
    let mut command = Command::new("apt-get");
    command.arg("-qq");
    for option in [
        format!("Dir::State::lists={}/lists", folder.display()),
        format!("Dir::Cache={}/cache", folder.display()),
        "APT::Sandbox::User=".to_owned(),
        "Debug::NoLocking=1".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
        "Acquire::Retries=3".to_owned(),
    ] {
        command.args(["-o", &option]);
    }
    command
}

/// Returns the library folders below a folder, as relative paths: one for the architecture, and its subfolders.
fn libraries(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for architecture in folders(folder)?.into_iter().filter(|name| name.ends_with("-linux-gnu")) {
        let below = folders(&folder.join(&architecture))?;
        let below: Vec<_> = below.into_iter().map(|name| format!("{architecture}/{name}")).collect();
        found.push(architecture);
        found.extend(below);
    }
    Ok(found)
}

/// Returns the names of the folders in a folder.
fn folders(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
