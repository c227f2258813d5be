//! Lays out each SDK as it would be released: with the contract as files, which are links here, and the licence.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portcullis_build::workspace::Workspace;
use portcullis_build::{Language, cache, write_sdk};

/// One language for each SDK, and the folder of its package.
const SDKS: [(Language, &str); 6] = [
    (Language::Rust, "rust"),
    (Language::TypeScript, "js"),
    (Language::Python, "python"),
    (Language::Go, "go"),
    (Language::C, "c"),
    (Language::Zig, "zig"),
];
const LICENCE: &str = "LICENSE";

/// Writes the packages into `target/packages`.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    for (language, name) in SDKS {
        let folder = workspace.target.join("packages").join(name);
        println!("{}", write(workspace, language, folder)?.display());
    }
    Ok(())
}

fn write(workspace: &Workspace, language: Language, folder: PathBuf) -> Result<PathBuf> {
    cache::empty(&folder)?;
    write_sdk(language, &folder)?;
    copy(&workspace.root.join(LICENCE), &folder.join(LICENCE))?;
    Ok(folder)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_whole_without_the_repository() {
        let workspace = Workspace::of(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        for (language, name) in SDKS {
            let folder = std::env::temp_dir().join(format!("portcullis-package-{name}-{}", std::process::id()));
            let folder = write(&workspace, language, folder).unwrap();
            for file in ["wit/tool.wit", "wit/deps/io.wit", "README.md", LICENCE] {
                assert!(folder.join(file).is_file(), "{name} has no {file}");
            }
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
