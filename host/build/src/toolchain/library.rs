//! Builds the standard library for the guest target from its sources.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::target::TARGET;
use crate::{cache, process};

/// The manifest of an empty crate, for which cargo builds the library.
const MANIFEST: &str = "[package]\nname = \"nothing\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
                        [profile.release]\ncodegen-units = 1\n";

/// The inputs of a build of the standard library.
pub(super) struct Recipe {
    /// The compiler that builds the library and later the guests.
    pub(super) rustc: PathBuf,
    /// The folder that contains `lib/rustlib`, with the sources and the result.
    pub(super) sysroot: PathBuf,
    /// The C library's objects for the target.
    pub(super) libc: PathBuf,
    /// The folder that contains `library/`. Compiled code does not contain its path.
    pub(super) sources: PathBuf,
    /// A folder for intermediate files.
    pub(super) work: PathBuf,
}

impl Recipe {
    /// Builds the library, installs it where the compiler looks for it, and returns its digest.
    pub(super) fn build(&self) -> Result<String> {
        self.link_sources()?;
        let built = self.compile()?;
        // The link leads into the working folder, which the caller removes.
        fs::remove_file(self.source_link())?;
        self.lay_out(&built)?;
        digest(&self.library())
    }

    fn library(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib")
    }

    /// Links the sources to the fixed path in the compiler's folder where cargo looks for them.
    fn link_sources(&self) -> Result<()> {
        let link = self.source_link();
        fs::create_dir_all(link.parent().context("a folder without a parent")?)?;
        if link.is_symlink() {
            fs::remove_file(&link)?;
        }
        Ok(std::os::unix::fs::symlink(&self.sources, link)?)
    }

    fn source_link(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust")
    }

    /// Compiles the library. Returns the folder of the compiled files.
    fn compile(&self) -> Result<PathBuf> {
        let package = self.work.join("library");
        cache::empty(&package.join("src"))?;
        fs::write(package.join("Cargo.toml"), MANIFEST)?;
        fs::write(package.join("src/lib.rs"), "#![no_std]\n")?;
        let rustc = package.join("rustc");
        // A wrapper that sets the sysroot to our folder, because cargo looks for the sources there.
        script(&rustc, &format!("exec \"{}\" --sysroot=\"{}\" \"$@\"", self.rustc.display(), self.sysroot.display()))?;
        let mut cargo = process::cargo();
        cargo.args(["build", "--quiet", "--release", "--target", TARGET, "-Zbuild-std=std,panic_abort,test"]);
        cargo.arg("--target-dir").arg(package.join("target")).current_dir(&package);
        // Building the library needs unstable features, which RUSTC_BOOTSTRAP enables in a released compiler.
        cargo.env("RUSTC", &rustc).env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", self.flags());
        for name in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_DIR"] {
            cargo.env_remove(name);
        }
        process::run_aside(&mut cargo)
            .context("the standard library did not build: see the compiler's output above")?;
        Ok(package.join("target").join(TARGET).join("release/deps"))
    }

    /// Returns the compiler flags. Bitcode lets guests be optimized together with the library.
    fn flags(&self) -> String {
        let mut flags = vec!["-Cembed-bitcode=yes".to_owned(), "-Cstrip=debuginfo".to_owned()];
        flags.extend(neutral_paths(&[(&self.sources, "/rust"), (&self.source_link(), "/rust")]));
        flags.join("\x1f")
    }

    fn lay_out(&self, built: &Path) -> Result<()> {
        let library = self.library();
        fs::create_dir_all(library.join("self-contained"))?;
        for file in fs::read_dir(built)? {
            let file = file?.path();
            let name = file.file_name().context("a file without a name")?;
            // `nothing` is the empty crate for which cargo built the library.
            if file.extension().is_some_and(|kind| kind == "rlib") && !name.to_string_lossy().contains("nothing") {
                fs::copy(&file, library.join(name))?;
            }
        }
        for object in ["crt1-command.o", "crt1-reactor.o", "libc.a"] {
            fs::copy(self.libc.join(object), library.join("self-contained").join(object))
                .with_context(|| format!("Debian's wasi-libc has no {object} for {TARGET}"))?;
        }
        Ok(())
    }
}

/// Returns a digest of the names and contents of all files in a library's two folders.
fn digest(library: &Path) -> Result<String> {
    let mut lines = Vec::new();
    for folder in [library.to_owned(), library.join("self-contained")] {
        for file in fs::read_dir(folder)? {
            let file = file?.path();
            if file.is_file() {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                lines.push(format!("{} {name}\n", cache::digest(&fs::read(&file)?)));
            }
        }
    }
    lines.sort();
    Ok(cache::digest(lines.concat().as_bytes()))
}

/// Returns compiler flags that keep these folders, and cargo's own, out of panic messages. The paths would reveal who
/// built a guest, and would change its hash.
pub fn neutral_paths(folders: &[(&Path, &str)]) -> Vec<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let own = folders.iter().copied().chain(home.as_deref().map(|home| (home, "/cargo")));
    own.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())).collect()
}

/// Writes an executable shell script.
pub fn script(file: &Path, body: &str) -> Result<()> {
    fs::write(file, format!("#!/bin/sh\n{body}\n"))?;
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o755))?)
}
