//! Projects of plugins: their templates, their toolchains, and how they become components.
//!
//! A project is a folder with a [`plugin.toml`](Project). [`create`] writes one, with a copy of its language's SDK;
//! [`build`] finds or installs the language's toolchain, pinned by content and kept in the user's cache, and makes the
//! component. Everything here acts for the person who runs it, with their rights: no plugin and no model reaches it,
//! and the host does not depend on it.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a build tool starts programs, reads and writes files, and tells on standard error how far it is"
)]

pub mod cache;
pub mod crates;
pub mod process;
pub mod toolchain;
pub mod workspace;

mod component;
mod embedded;
mod language;
mod languages;
mod npm;
mod pip;
mod project;
mod strip;
mod template;

pub use component::size;
pub use language::Language;
pub use project::{Engine, PROJECT_FILE, Project};
pub use template::{create, write_sdk};

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// What a build made.
#[derive(Debug)]
pub struct Built {
    /// The component.
    pub file: PathBuf,
    /// How large it is, in bytes.
    pub bytes: u64,
    /// How large it was with what only a debugger reads.
    pub bytes_before_strip: u64,
}

/// Builds a project's component into `out`, and leaves there what was before where it does not build.
///
/// # Errors
/// The toolchain is neither there nor can it be installed, or it refuses the source: with its words, and what to do.
pub fn build(project: &Project, out: &Path) -> Result<Built> {
    // Toolchains are started in folders of their own, where a relative path would mean another file.
    let out = &absolute(out)?;
    let (locks, name) = (cache::folder("locks")?, cache::digest(out.as_os_str().as_encoded_bytes()));
    // What a build leaves beside the component while it works is named after it, and is no other build's to touch.
    let _lock = cache::hold(&locks, &name, &format!("{}: another build of it is at work", out.display()))?;
    let partial = out.with_extension("wasm.partial");
    let made = languages::build(project, &partial).and_then(|()| finish(&partial, out));
    if made.is_err() {
        // Half a component is of no use. The failure to report is the first one.
        let _ = fs::remove_file(&partial);
    }
    made
}

/// The path of a file that may not be there, in a folder that is made where it is not.
fn absolute(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().with_context(|| format!("{} names no file", file.display()))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    Ok(made.with_context(|| format!("cannot create {}", folder.display()))?.join(name))
}

/// Strips the component and moves it into place, so that no reader sees half of it.
fn finish(partial: &Path, out: &Path) -> Result<Built> {
    let bytes = fs::read(partial).with_context(|| format!("the toolchain left no {}", partial.display()))?;
    let stripped = strip::strip(&bytes).context("the toolchain made what is no component")?;
    fs::write(partial, &stripped)?;
    fs::rename(partial, out).with_context(|| format!("cannot move {} into place", partial.display()))?;
    Ok(Built { file: out.to_owned(), bytes: stripped.len() as u64, bytes_before_strip: bytes.len() as u64 })
}
