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
pub mod project_file;
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
use std::io::Write as _;
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
    let _lock = cache::hold(&locks, &name, &format!("{}: another build of it is at work", out.display()))?;
    // Not beside the component: a project can hold links, and a toolchain writes through them.
    let work = cache::folder("work")?.join(name);
    cache::empty(&work)?;
    let raw = work.join("component.wasm");
    let made = languages::build(project, &raw).and_then(|()| finish(&raw, out));
    // The next build of it empties the folder too.
    let _ = fs::remove_dir_all(&work);
    made
}

/// The path of a file that may not be there, in a folder that is made where it is not.
fn absolute(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().with_context(|| format!("{} names no file", file.display()))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    Ok(made.with_context(|| format!("cannot create {}", folder.display()))?.join(name))
}

/// Strips the component and moves it into place, so that no reader sees half of it and no link is followed.
fn finish(raw: &Path, out: &Path) -> Result<Built> {
    let bytes = project_file::read(raw, project_file::MODULE_BYTES_MAX)
        .with_context(|| format!("the toolchain left no {}", raw.display()))?;
    let stripped = strip::strip(&bytes).context("the toolchain made what is no component")?;
    let partial = out.with_extension("wasm.partial");
    let written = project_file::create(&partial).and_then(|mut file| file.write_all(&stripped));
    let moved = written.and_then(|()| fs::rename(&partial, out));
    if moved.is_err() {
        // The failure to report is the first one.
        let _ = fs::remove_file(&partial);
    }
    moved.with_context(|| format!("cannot write {}", out.display()))?;
    Ok(Built { file: out.to_owned(), bytes: stripped.len() as u64, bytes_before_strip: bytes.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A project from elsewhere can hold links, and building it must not write where they lead.
    #[test]
    fn a_link_in_the_place_of_a_component_is_not_followed() {
        let folder = tempfolder("links");
        fs::write(folder.join("victim"), "mine").unwrap();
        for name in ["p.wasm", "p.wasm.partial"] {
            symlink("victim", folder.join(name)).unwrap();
        }
        let raw = folder.join("raw");
        fs::write(&raw, wasm_encoder::Component::new().finish()).unwrap();
        let out = folder.join("p.wasm");
        finish(&raw, &out).unwrap();
        assert_eq!(fs::read_to_string(folder.join("victim")).unwrap(), "mine");
        assert!(fs::symlink_metadata(&out).unwrap().is_file());
        assert!(fs::symlink_metadata(folder.join("p.wasm.partial")).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    fn tempfolder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("portcullis-build-{name}-{}", std::process::id()));
        cache::empty(&folder).unwrap();
        folder
    }
}
