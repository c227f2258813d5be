//! Creates plugin projects and builds them to components.
//!
//! A project is a folder with a [`plugin.toml`](Project). [`create`] writes one, with a copy of its language's SDK.
//! [`build`] finds or installs the language's toolchain, pinned by content and kept in the user's cache, and builds the
//! component. All of this runs with the permissions of its user. No plugin and no model can reach it, and the host does
//! not depend on it.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a build tool starts programs, reads and writes files, and prints its progress to standard error"
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

/// The result of a build.
#[derive(Debug)]
pub struct Built {
    /// The component.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its size with debug information.
    pub bytes_before_strip: u64,
}

/// Builds a project's component to `out`. If the build fails, leaves the existing file in place.
///
/// # Errors
/// The toolchain cannot be installed, or it refuses the source. The text has its output and what to do.
pub fn build(project: &Project, out: &Path) -> Result<Built> {
    // Toolchains run in other folders, where a relative path would mean another file.
    let out = &absolute(out)?;
    // Builds of one component share a working folder, so the lock and the folder have the same name.
    let (locks, name) = (cache::folder("locks")?, cache::digest(out.as_os_str().as_encoded_bytes()));
    let _lock = cache::hold(&locks, &name, &format!("{}: another build of it is running", out.display()))?;
    // The working folder is not in the project: a project can contain links, and a toolchain writes through them.
    let work = cache::folder("work")?.join(name);
    cache::empty(&work)?;
    let raw = work.join("component.wasm");
    let made = languages::build(project, &raw).and_then(|()| finish(&raw, out));
    // If this fails, the next build empties the folder.
    let _ = fs::remove_dir_all(&work);
    made
}

/// Returns the absolute path of a file that may not exist. Creates its folder.
fn absolute(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().with_context(|| format!("{} is not the path of a file", file.display()))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Two spellings of one path must get the same lock. A link at the file itself stays: `finish` replaces it.
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    Ok(made.with_context(|| format!("cannot create {}", folder.display()))?.join(name))
}

/// Strips the component and moves it into place, so that no reader sees half of it and no link is followed.
fn finish(raw: &Path, out: &Path) -> Result<Built> {
    let bytes = project_file::read(raw, project_file::MODULE_BYTES_MAX)
        .with_context(|| format!("the toolchain did not create {}", raw.display()))?;
    let stripped = strip::strip(&bytes).context("the toolchain's output is not a component")?;
    // The partial file is in the same folder, because a rename does not cross file systems (rename(2)).
    let partial = out.with_extension("wasm.partial");
    let written = project_file::create(&partial).and_then(|mut file| file.write_all(&stripped));
    let moved = written.and_then(|()| fs::rename(&partial, out));
    if moved.is_err() {
        // Report the first failure, not one of the removal.
        let _ = fs::remove_file(&partial);
    }
    moved.with_context(|| format!("cannot write {}", out.display()))?;
    Ok(Built { file: out.to_owned(), bytes: stripped.len() as u64, bytes_before_strip: bytes.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A project from another person can contain links, and a build must not write to their targets.
    #[test]
    fn a_link_at_the_path_of_the_component_is_not_followed() {
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
