//! Writes each SDK in its release layout: with copies of the contract's files, which are links in the repository, and
//! the licence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use portcullis_build::workspace::Workspace;
use portcullis_build::{Language, cache, write_sdk};

const LICENCE: &str = "LICENSE";

/// Writes the packages into `target/packages`.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    for (name, language) in sdks() {
        let folder = workspace.target.join("packages").join(name);
        write(workspace, language, &folder)?;
        println!("{}", folder.display());
    }
    Ok(())
}

/// Returns the folder of each SDK, with one of its languages.
fn sdks() -> BTreeMap<&'static str, Language> {
    Language::ALL.into_iter().map(|language| (language.sdk(), language)).collect()
}

fn write(workspace: &Workspace, language: Language, folder: &Path) -> Result<()> {
    cache::empty(folder)?;
    write_sdk(language, folder)?;
    fs::copy(workspace.root.join(LICENCE), folder.join(LICENCE)).context("cannot copy the licence")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_does_not_depend_on_the_repository() {
        let workspace = Workspace::of(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert_eq!(sdks().len(), 6);
        for (name, language) in sdks() {
            let folder = std::env::temp_dir().join(format!("portcullis-package-{name}-{}", std::process::id()));
            write(&workspace, language, &folder).unwrap();
            for file in ["wit/tool.wit", "wit/deps/io.wit", "README.md", LICENCE] {
                assert!(folder.join(file).is_file(), "{name} has no {file}");
            }
            fs::remove_dir_all(folder).unwrap();
        }
    }
}
