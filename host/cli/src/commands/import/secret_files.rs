//! Writes secrets to files that only the user can read.

use super::variables::SecretFile;
use crate::user_files::{self, PRIVATE};
use anyhow::{Context as _, bail};

/// Writes the files. A file with the same content stays.
///
/// # Errors
/// A file has another content, or cannot be written.
pub(super) fn write(files: &[SecretFile]) -> anyhow::Result<()> {
    for SecretFile { path, value } in files {
        let what = || format!("cannot write the secret to {}", path.display());
        user_files::create_parents(path, PRIVATE).with_context(what)?;
        match user_files::read(path).with_context(what)? {
            Some(known) if known == value.as_bytes() => {}
            Some(_) => bail!("{} exists and has another content: remove it, or name another directory", path.display()),
            // This fails if the file has appeared meanwhile.
            None => user_files::replace(path, None, value.as_bytes(), PRIVATE).with_context(what)?,
        }
    }
    Ok(())
}
