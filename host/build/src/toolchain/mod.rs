//! The guest toolchain, with which this machine's cargo builds for `wasm32-wasip2`.
//!
//! It tries these ways in order: the target is installed; the cache has a toolchain; rustup adds the target; the
//! installed compiler builds the standard library from Debian's sources of the same version; Debian's compiler for the
//! web builds its own library. Nothing is written outside the user's cache, except rustup's target folder. A caller
//! that must not change the installed toolchain can restrict it to Debian's ways.

mod apt;
mod debian;
mod installed;
mod library;
mod progress;
mod rustup;
mod target;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use self::installed::Installed;
pub use self::library::{neutral_paths, script};
use self::progress::say;
pub use self::target::TARGET;
use crate::{cache, process};

/// Part of the cache key. Increment it when the recipe changes its result.
const RECIPE: u32 = 1;

/// The variable that restricts the ways. [`Way::parse`] has its values.
const WAY_VARIABLE: &str = "PORTCULLIS_GUEST_TOOLCHAIN";

/// The ways to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// All of them, the cheapest first.
    Auto,
    /// Both of Debian's ways. They neither use nor change rustup's toolchains.
    Debian,
    /// Debian's sources of the installed compiler.
    Source,
    /// Debian's compiler for the web.
    Web,
}

/// A toolchain that builds for [`TARGET`].
#[derive(Debug, PartialEq)]
pub enum Toolchain {
    /// The installed compiler, which already has the target.
    Installed,
    /// The installed compiler, with the libraries in this folder.
    Sysroot(PathBuf),
    /// Another compiler, whose folder holds `bin/rustc`, `bin/rustdoc` and the libraries under `usr`.
    Compiler(PathBuf),
}

/// Makes [`TARGET`] usable for the compiler of a folder's crates. The environment can restrict the ways.
pub fn prepare(folder: &Path) -> Result<Toolchain> {
    let way = match std::env::var(WAY_VARIABLE) {
        Ok(word) => Way::parse(&word).with_context(|| format!("{WAY_VARIABLE} is set"))?,
        Err(_) => Way::Auto,
    };
    prepare_by(way, folder)
}

/// Makes [`TARGET`] usable. The error has the remedy for each way that failed.
pub fn prepare_by(way: Way, folder: &Path) -> Result<Toolchain> {
    let installed = Installed::find(folder)?;
    // The other ways must not use rustup's toolchain.
    if way == Way::Auto && installed.has_target() {
        return Ok(Toolchain::Installed);
    }
    let cache = Cache { folder: cache::folder("guest-toolchain")?, key: key(&installed.description) };
    if let Some(ready) = cache.find(way)? {
        return Ok(ready);
    }
    let mut failures = Vec::new();
    for (name, make) in way.steps() {
        match make(&installed, &cache) {
            Ok(toolchain) => {
                say(&format!("ready, from {name}"));
                return Ok(toolchain);
            }
            Err(failure) => {
                say(&format!("{name}: {failure:#}"));
                failures.push(format!("  {name}: {failure:#}"));
            }
        }
    }
    bail!("this machine cannot build for {TARGET} yet; one of these remedies is enough:\n{}", failures.join("\n"))
}

/// A way: its name for people, and its function.
type InstallStep = (&'static str, fn(&Installed, &Cache) -> Result<Toolchain>);

const RUSTUP: InstallStep = ("rustup", |installed, _| rustup::add(installed).map(|()| Toolchain::Installed));
const SOURCE: InstallStep = ("Debian's sources of this compiler", |installed, cache| {
    let made = cache::entry(&cache.folder, &cache.source(), |partial| debian::same_compiler(installed, partial));
    Toolchain::from_source(&made?)
});
const WEB: InstallStep = ("Debian's compiler for the web", |installed, cache| {
    let made = cache::entry(&cache.folder, &cache.web(), |partial| debian::web_compiler(installed, partial));
    Toolchain::from_web(&made?)
});

impl Way {
    /// Parses the value of the variable.
    pub fn parse(word: &str) -> Result<Way> {
        Ok(match word {
            "auto" => Way::Auto,
            "debian" => Way::Debian,
            "source" => Way::Source,
            "web" => Way::Web,
            _ => bail!("there is no guest toolchain `{word}`: use auto, debian, source or web"),
        })
    }

    fn steps(self) -> &'static [InstallStep] {
        match self {
            Way::Auto => &[RUSTUP, SOURCE, WEB],
            Way::Debian => &[SOURCE, WEB],
            Way::Source => &[SOURCE],
            Way::Web => &[WEB],
        }
    }
}

/// The cache entries for this compiler.
struct Cache {
    folder: PathBuf,
    key: String,
}

impl Cache {
    fn source(&self) -> String {
        format!("{}-source", self.key)
    }

    fn web(&self) -> String {
        format!("{}-web", self.key)
    }

    /// Returns a cached toolchain for a way. Prefers the one for the installed compiler.
    fn find(&self, way: Way) -> Result<Option<Toolchain>> {
        let ready = |name: String| Some(self.folder.join(name)).filter(|entry| entry.is_dir());
        let source = ready(self.source()).filter(|_| way != Way::Web);
        let web = ready(self.web()).filter(|_| way != Way::Source);
        match (source, web) {
            (Some(entry), _) => Toolchain::from_source(&entry).map(Some),
            (None, Some(entry)) => Toolchain::from_web(&entry).map(Some),
            (None, None) => Ok(None),
        }
    }
}

impl Toolchain {
    fn from_source(entry: &Path) -> Result<Toolchain> {
        debian::stamped(entry, debian::SYSROOT).map(Toolchain::Sysroot)
    }

    fn from_web(entry: &Path) -> Result<Toolchain> {
        debian::stamped(entry, debian::COMPILER).map(Toolchain::Compiler)
    }

    /// Returns the flag that names the libraries. A compiler with its own libraries does not need it, but cargo
    /// rebuilds everything when it changes.
    fn flag(&self) -> Option<String> {
        match self {
            Toolchain::Installed => None,
            Toolchain::Sysroot(folder) => Some(format!("--sysroot={}", folder.display())),
            Toolchain::Compiler(folder) => Some(format!("--sysroot={}", folder.join("usr").display())),
        }
    }

    /// Returns the variables that select another compiler.
    fn programs(&self) -> Vec<(&'static str, PathBuf)> {
        match self {
            Toolchain::Installed | Toolchain::Sysroot(_) => Vec::new(),
            Toolchain::Compiler(folder) => {
                vec![("RUSTC", folder.join("bin/rustc")), ("RUSTDOC", folder.join("bin/rustdoc"))]
            }
        }
    }

    /// Applies this toolchain and these compiler flags to `command`, a cargo that builds for [`TARGET`].
    pub fn apply(&self, command: &mut Command, mut flags: Vec<String>) {
        flags.extend(self.flag());
        // The encoded form permits paths with spaces. With `--target`, cargo does not use it for build scripts.
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).envs(self.programs());
    }

    /// Returns shell lines after which a plain `cargo build --target wasm32-wasip2` works.
    pub fn exports(&self) -> String {
        let programs = self.programs().into_iter().map(|(name, path)| (name, path.display().to_string()));
        let flag = self.flag().map(|flag| ("CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS", flag));
        programs.chain(flag).map(|(name, value)| format!("export {name}={}\n", process::quote(&value))).collect()
    }
}

/// Returns the key of the cache entries for a compiler with this description.
fn key(description: &str) -> String {
    let mut digest = cache::digest(format!("{RECIPE}\n{TARGET}\n{description}").as_bytes());
    digest.truncate(16);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: &str = "rustc 1.95.0 (59807616e 2026-04-14)\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";

    #[test]
    fn the_key_follows_the_compiler() {
        assert_eq!(key(DESCRIPTION), key(DESCRIPTION));
        assert_ne!(key(DESCRIPTION), key(&DESCRIPTION.replace("1.95.0", "1.96.0")));
        assert_eq!(key(DESCRIPTION).len(), 16);
    }

    #[test]
    fn debians_ways_leave_rustup_alone() {
        for word in ["debian", "source", "web"] {
            assert!(Way::parse(word).unwrap().steps().iter().all(|(name, _)| *name != RUSTUP.0));
        }
        assert!(Way::parse("src").is_err());
    }

    #[test]
    fn exports_are_shell_lines() {
        assert_eq!(Toolchain::Installed.exports(), "");
        let sysroot = Toolchain::Sysroot(PathBuf::from("/c/sysroot"));
        assert_eq!(sysroot.exports(), "export CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS=--sysroot=/c/sysroot\n");
        let compiler = Toolchain::Compiler(PathBuf::from("/c d")).exports();
        assert!(compiler.starts_with("export RUSTC='/c d/bin/rustc'\nexport RUSTDOC='/c d/bin/rustdoc'\n"));
    }
}
