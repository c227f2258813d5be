//! Writes a new project: the template of its language, and a copy of the SDK.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::embedded;
use crate::language::Language;
use crate::project::check_name;

/// The placeholder for the plugin's name in a template.
const NAME: &str = "{{name}}";
/// The folder of a project that the SDK is copied to.
const SDK: &str = "sdk";
/// Files whose name would have a meaning in this repository, and their names in a project.
const RENAMED: [(&str, &str); 2] = [("gitignore", ".gitignore"), ("Cargo.toml.template", "Cargo.toml")];
/// The file that is executable.
const EXECUTABLE: &str = "build.sh";

/// Writes a project called `name` into a folder of that name in `parent`. Returns the folder.
///
/// # Errors
/// The name is invalid, or the folder already exists.
pub fn create(parent: &Path, name: &str, language: Language) -> Result<PathBuf> {
    check_name(name)?;
    let root = parent.join(name);
    // A dangling link counts as existing too.
    ensure!(fs::symlink_metadata(&root).is_err(), "{} already exists: nothing was written", root.display());
    let made = write_all(&root, name, language);
    if made.is_err() {
        // A partial project would block the next attempt. Report the first failure, not one of the removal.
        let _ = fs::remove_dir_all(&root);
    }
    made.map(|()| root)
}

fn write_all(root: &Path, name: &str, language: Language) -> Result<()> {
    for (path, bytes) in embedded::below(&format!("templates/{}", language.name())) {
        let text = std::str::from_utf8(bytes).with_context(|| format!("{path} of the template is not text"))?;
        // `check_name` has refused every character that a template's language would have to escape.
        let text = text.replace(NAME, name);
        write(root, &renamed(path), text.as_bytes())?;
    }
    write_sdk(language, &root.join(SDK))
}

/// Writes the complete SDK of a language into a folder. Links of the repository become files.
///
/// # Errors
/// The folder cannot be written.
pub fn write_sdk(language: Language, folder: &Path) -> Result<()> {
    for (path, bytes) in embedded::below(language.sdk()) {
        write(folder, path, bytes)?;
    }
    Ok(())
}

fn renamed(path: &str) -> String {
    RENAMED.iter().find(|(from, _)| *from == path).map_or(path, |(_, to)| to).to_owned()
}

fn write(root: &Path, path: &str, bytes: &[u8]) -> Result<()> {
    let file = root.join(path);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    // An embedded file has no mode, so the only executable one is known by its name.
    if path == EXECUTABLE {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
