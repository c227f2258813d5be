//! A browser without a window: one that is installed, or else Debian's, unpacked into the cache.
//!
//! Nothing is installed on the machine. The machine's own apt is asked for what a browser needs and the machine lacks;
//! it checks the signatures, and what it downloads is unpacked beside the browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context as _, Result, ensure};

use crate::toolchain::script;
use crate::{cache, process};

/// Names a browser to use, and the browser to the tests.
const VARIABLE: &str = "PORTCULLIS_TEST_BROWSER";
/// Browsers that can be driven alike, in the order in which they are looked for.
const PROGRAMS: [&str; 4] = ["chromium-headless-shell", "chromium", "google-chrome", "google-chrome-stable"];
/// The package that is fetched: a browser that has no window, and less to bring along than one that has.
const PACKAGE: &str = "chromium-headless-shell";
/// Where the program is in its package.
const PROGRAM: &str = "usr/lib/chromium/chromium-headless-shell";
/// Raise this when the recipe changes what it makes: the cache is keyed by it.
const RECIPE: u32 = 1;

/// A browser that starts.
pub(super) struct Browser {
    program: PathBuf,
}

impl Browser {
    /// The browser that a person named, one that is installed, the one in the cache, or Debian's.
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

    /// Where the browser is.
    pub(super) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        vec![(VARIABLE, self.program.clone())]
    }
}

/// The first browser on the path of programs that starts.
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

/// Debian's browser, from the cache or from the machine's mirror.
fn fetched() -> Result<Browser> {
    let system = fs::read("/etc/os-release").context("this is no Linux that says its name")?;
    let recipe = format!("{RECIPE} {}", env::consts::ARCH);
    let key = format!("browser-{}", &cache::digest(&[recipe.as_bytes(), &system].concat())[..16]);
    let folder = cache::folder("clients")?;
    let kept = folder.join(&key);
    // The machine has lost a library since that it had when the browser was fetched: fetch anew what is missing now.
    if kept.exists() && !starts(&kept.join("browser")) {
        fs::remove_dir_all(&kept)?;
    }
    let program = cache::entry(&folder, &key, make)?.join("browser");
    ensure!(starts(&program), "{} does not start", program.display());
    Ok(Browser { program })
}

/// Fetches and unpacks the browser, with a program that starts it.
fn make(folder: &Path) -> Result<()> {
    eprintln!("clients: fetching {PACKAGE} from Debian");
    let apt = folder.join("apt");
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(apt.join(part))?;
    }
    process::run_aside(apt_get(&apt).arg("update")).context("the machine's package lists could not be read")?;
    let install = ["--yes", "--no-install-recommends", "--download-only", "install", PACKAGE];
    process::run_aside(apt_get(&apt).args(install)).with_context(|| format!("apt finds no {PACKAGE} to download"))?;
    for entry in fs::read_dir(apt.join("cache/archives"))? {
        let package = entry?.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            process::run_aside(Command::new("dpkg-deb").arg("-x").arg(&package).arg(folder))?;
        }
    }
    fs::remove_dir_all(&apt)?;
    // Documentation and icons: nothing that a browser without a window reads.
    fs::remove_dir_all(folder.join("usr/share"))?;
    let libraries: Vec<String> =
        libraries(&folder.join("usr/lib"))?.into_iter().map(|place| format!("$here/usr/lib/{place}")).collect();
    let body = format!(
        "here=$(cd \"$(dirname \"$0\")\" && pwd)\nLD_LIBRARY_PATH=\"{}\" exec \"$here/{PROGRAM}\" \"$@\"",
        libraries.join(":")
    );
    script(&folder.join("browser"), &body)
}

/// The machine's apt, with lists and downloads of its own in `folder`: it needs no root, and leaves the machine as it
/// is.
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

/// The folders that hold libraries, below a folder and as paths from it: one for the architecture, and what is in it.
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

/// The names of the folders in a folder.
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
