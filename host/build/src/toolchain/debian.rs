//! Builds the standard library for the guest target from Debian's source packages, which takes minutes.
//!
//! Debian has the library's sources (`rust-src`), a C library for the target (`wasi-libc`) and, in its stable
//! releases, a compiler that browsers are built with (`rustc-web`). The linker comes with the installed toolchain.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::apt::{self, Apt, Suite};
use super::installed::Installed;
use super::library::{Recipe, script};
use super::progress::say;
use super::target::TARGET;
use crate::process;

/// The folder in a cache entry with libraries for the installed compiler.
pub(super) const SYSROOT: &str = "sysroot";
/// The folder in a cache entry with a compiler and its libraries.
pub(super) const COMPILER: &str = "compiler";

/// The suites with the sources of released compilers.
const SOURCE_SUITES: [Suite; 2] = [apt::suite("trixie-backports"), apt::suite("trixie")];
/// The suites with the compiler for the web, built for the oldest supported Debian.
const WEB_SUITES: [Suite; 4] = [
    apt::suite("trixie-backports"),
    apt::suite("bookworm-backports"),
    apt::security("bookworm-security"),
    apt::suite("bookworm"),
];
/// Versions built for Debian 12 run on 12 and later; those for 13 need a newer C library.
const WEB_MARK: &str = "~deb12";
/// The oldest libc that the standard library links with. `std::thread::spawn` links only with one of 2026 or later.
const OLDEST_LIBC: u32 = 20_240_101;

/// Builds the library with the installed compiler, from the sources of exactly its version.
pub(super) fn same_compiler(installed: &Installed, entry: &Path) -> Result<()> {
    let release = installed.field("release")?;
    say("reading Debian's package indexes");
    let work = entry.join("work");
    let apt = Apt::update(work.join("apt"), &SOURCE_SUITES)?;
    let version = apt.versions("rust-src")?.into_iter().find(|version| version.starts_with(&format!("{release}+")));
    let version = version.with_context(|| {
        format!("no rust-src {release} in the indexes that could be read: use a version of Rust that Debian has")
    })?;
    let libc = libc(&apt, &work)?;
    say(&format!("downloading rust-src {version}"));
    let sources = sources(&apt, "rust-src", &version, &work)?;
    let sysroot = entry.join(SYSROOT);
    let host = installed.field("host")?;
    fs::create_dir_all(sysroot.join("lib/rustlib"))?;
    // The host's library, the linker and the component linker stay the installed ones.
    symlink(installed.sysroot.join("lib/rustlib").join(host), sysroot.join("lib/rustlib").join(host))?;
    say("building the standard library for wasm32-wasip2: about two minutes, once for each compiler");
    let recipe = Recipe { rustc: installed.rustc(), sysroot: sysroot.clone(), libc, sources, work: work.clone() };
    stamp(&sysroot, &recipe.build()?)?;
    Ok(fs::remove_dir_all(work)?)
}

/// Builds the library with Debian's compiler for the web, whose sources always have the same version.
pub(super) fn web_compiler(installed: &Installed, entry: &Path) -> Result<()> {
    say("reading Debian's package indexes");
    let work = entry.join("work");
    let apt = Apt::update(work.join("apt"), &WEB_SUITES)?;
    let version = marked(&apt, "rustc-web")?;
    let libc = libc(&apt, &work)?;
    say(&format!("downloading rustc-web {version}"));
    let compiler = entry.join(COMPILER);
    unpack_web(&apt, &version, &compiler)?;
    let sources = sources(&apt, "rust-web-src", &version, &work)?;
    let host = installed.field("host")?;
    let tools = compiler.join("usr/lib/rustlib").join(host).join("bin");
    // The linker comes with the installed toolchain, so its folder takes the place of that of the package.
    if tools.exists() {
        fs::remove_dir_all(&tools)?;
    }
    symlink(installed.sysroot.join("lib/rustlib").join(host).join("bin"), tools)?;
    let rustc = write_stand_ins(&compiler, host)?;
    say("building the standard library for wasm32-wasip2: about three minutes, once for each compiler");
    let recipe = Recipe { rustc, sysroot: compiler.join("usr"), libc, sources, work: work.clone() };
    stamp(&compiler, &recipe.build()?)?;
    Ok(fs::remove_dir_all(work)?)
}

/// Adds the digest of a library to its folder's name. Cargo does not look into a library's folder, but it rebuilds
/// everything when the folder's name changes, because the name is in a compiler flag.
fn stamp(folder: &Path, digest: &str) -> Result<()> {
    Ok(fs::rename(folder, format!("{}-{}", folder.display(), &digest[..16]))?)
}

/// Returns the stamped folder of this kind in a cache entry.
pub(super) fn stamped(entry: &Path, kind: &str) -> Result<PathBuf> {
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('-'))
    };
    let found = fs::read_dir(entry)?.filter_map(|file| Some(file.ok()?.path())).find(named);
    found.with_context(|| format!("{} is damaged: remove it", entry.display()))
}

/// Unpacks the compiler, its host library and the LLVM it is linked with.
fn unpack_web(apt: &Apt, version: &str, compiler: &Path) -> Result<()> {
    let line: Vec<&str> = version.split('.').take(2).collect();
    let host_library = format!("libstd-rust-web-{}", line.join("."));
    let host_package = apt.download(&host_library, version)?;
    let needs = process::capture(Command::new("dpkg-deb").arg("-f").arg(&host_package).arg("Depends"))?;
    let llvm = llvm_package(&needs).context("Debian's rustc-web names no LLVM that it needs")?;
    let llvm_package = apt.download(llvm, &marked(apt, llvm)?)?;
    let rustc = apt.download("rustc-web", version)?;
    let links = apt.download("libstd-rust-web-dev", version)?;
    for package in [host_package, llvm_package, rustc, links] {
        process::run(Command::new("dpkg-deb").arg("-x").arg(package).arg(compiler))?;
    }
    // Remove the documentation, which the compiler does not need.
    Ok(fs::remove_dir_all(compiler.join("usr/share"))?)
}

/// Writes scripts that start the compiler with its own LLVM, independent of its folder. Returns the script of `rustc`.
fn write_stand_ins(compiler: &Path, host: &str) -> Result<PathBuf> {
    let architecture = host.split('-').next().unwrap_or(host);
    let folder = compiler.join("bin");
    fs::create_dir_all(&folder)?;
    // The cache renames an entry when it is complete, so the scripts find the compiler relative to themselves.
    for name in ["rustc", "rustdoc"] {
        let libraries = format!("$here/usr/lib/{architecture}-linux-gnu${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}");
        let body = format!(
            "here=$(cd \"$(dirname \"$0\")/..\" && pwd)\n\
             LD_LIBRARY_PATH=\"{libraries}\" exec \"$here/usr/bin/{name}\" \"$@\""
        );
        script(&folder.join(name), &body)?;
    }
    Ok(folder.join("rustc"))
}

/// Downloads a source package of the compiler. Returns the folder that contains `library/`.
fn sources(apt: &Apt, package: &str, version: &str, work: &Path) -> Result<PathBuf> {
    let unpacked = work.join("sources");
    apt::unpack(&apt.download(package, version)?, &unpacked, "./usr/src/rustc-*/library/*")?;
    let mut folders = fs::read_dir(unpacked.join("usr/src"))?;
    Ok(folders.next().with_context(|| format!("{package} {version} contains no sources"))??.path())
}

/// Downloads the newest C library for the target. Returns the folder of its objects.
fn libc(apt: &Apt, work: &Path) -> Result<PathBuf> {
    let versions = apt.versions("wasi-libc")?;
    let newest = versions.into_iter().filter_map(|version| Some((libc_date(&version)?, version))).max();
    let (_, version) = newest
        .filter(|(date, _)| *date >= OLDEST_LIBC)
        .with_context(|| format!("no wasi-libc for {TARGET} in the indexes that could be read: check the network"))?;
    say(&format!("downloading wasi-libc {version}"));
    apt::unpack(&apt.download("wasi-libc", &version)?, &work.join("libc"), &format!("./usr/lib/{TARGET}/*"))?;
    Ok(work.join("libc/usr/lib").join(TARGET))
}

/// Returns the newest version of a package that runs on every Debian that this recipe supports.
fn marked(apt: &Apt, package: &str) -> Result<String> {
    let found = apt.versions(package)?.into_iter().find(|version| version.contains(WEB_MARK));
    found.with_context(|| format!("no {package} for Debian 12 in the indexes that could be read: check the network"))
}

/// Returns the date in a version such as `0.0~git20260129.9e35c0e-1`.
fn libc_date(version: &str) -> Option<u32> {
    version.strip_prefix("0.0~git")?.get(..8)?.parse().ok()
}

/// Returns the LLVM package that a `Depends` line names.
fn llvm_package(depends: &str) -> Option<&str> {
    depends.split([',', ' ', '(', '|']).find(|word| {
        word.strip_prefix("libllvm")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_a_libc_is_in_its_version() {
        assert_eq!(libc_date("0.0~git20260129.9e35c0e-1~bpo13+1"), Some(20_260_129));
        assert_eq!(libc_date("1.0-1"), None);
    }

    #[test]
    fn the_llvm_is_found_among_the_dependencies() {
        assert_eq!(llvm_package("libc6 (>= 2.36), libgcc-s1 (>= 4.2), libllvm19 (>= 1:19.1)"), Some("libllvm19"));
        assert_eq!(llvm_package("libc6 (>= 2.36), libllvm-web"), None);
    }
}
