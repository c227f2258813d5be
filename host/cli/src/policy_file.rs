//! The user's own policy file: reads it, and replaces it at once.
//!
//! A new text is written to a file beside it and renamed, so a host reads the old or the new text and never a part. If
//! the file changed since it was read, nothing is replaced. This file must not know what an edit means.

#![expect(clippy::disallowed_methods, reason = "the user's own file, which they name and ask to change")]

use crate::environment::PolicyPlaces;
use anyhow::{Context as _, anyhow, bail};
use portcullis::policy::POLICY_BYTES;
use rustix::fs::{Mode, fchmod};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The mode of a new policy. It says what agents may do, and may name places of secrets.
const NEW_FILE_MODE: u32 = 0o600;

/// The permission bits of a mode.
const PERMISSION_BITS: u32 = 0o7777;

/// The user's policy file, as it was read.
pub(crate) struct EditedPolicyFile {
    /// The path as the user gave it.
    pub(crate) shown: PathBuf,
    /// The file itself, links followed.
    target: PathBuf,
    /// The text, or none if the file does not exist.
    text: Option<String>,
    mode: u32,
}

/// A new text in a file beside the policy, from where its relative paths lead to the same places. It is removed unless
/// it replaces the policy.
pub(crate) struct StagedPolicy<'f> {
    of: &'f EditedPolicyFile,
    text: String,
    path: PathBuf,
    in_place: bool,
}

impl EditedPolicyFile {
    /// Reads the user's policy. The project's policy is never edited.
    ///
    /// # Errors
    /// There is no place for it, or it cannot be read.
    pub(crate) fn read(places: &PolicyPlaces) -> anyhow::Result<Self> {
        let path = match places {
            PolicyPlaces::Named(path) => Some(path),
            PolicyPlaces::Usual { user, project: _ } => user.as_ref().map(|user| &user.path),
        };
        let path = path.context("there is no HOME for your policy: name a file with --policy FILE")?;
        let (target, exists) = target(path).with_context(|| format!("cannot read the policy {}", path.display()))?;
        let (text, mode) = if exists { read(&target)? } else { (None, NEW_FILE_MODE) };
        Ok(Self { shown: path.clone(), target, text, mode })
    }

    /// Returns the text. It is empty if the file does not exist.
    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Writes a new text beside the policy, with the mode of the policy.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn stage(&self, text: &str) -> anyhow::Result<StagedPolicy<'_>> {
        let directory = directory_of(&self.shown);
        if !self.exists() {
            let what = || format!("cannot make the directory {}", directory.display());
            fs::create_dir_all(directory).with_context(what)?;
        }
        self.stage_in(directory, text)
    }

    fn stage_in(&self, directory: &Path, text: &str) -> anyhow::Result<StagedPolicy<'_>> {
        let what = || format!("cannot write beside the policy {}", self.shown.display());
        let name = self.target.file_name().context("the policy has no name")?.to_string_lossy();
        // The process makes one edit, so its number makes the name unique.
        let path = directory.join(format!(".{name}.{}.new", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(NEW_FILE_MODE);
        let mut file = options.open(&path).with_context(what)?;
        let staged = StagedPolicy { of: self, text: text.to_owned(), path, in_place: false };
        let written = file.write_all(text.as_bytes()).and_then(|()| {
            fchmod(&file, Mode::from_raw_mode(self.mode))?;
            file.sync_all()
        });
        written.with_context(what)?;
        Ok(staged)
    }
}

impl StagedPolicy<'_> {
    /// Returns the path of the new text.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the policy.
    ///
    /// # Errors
    /// The policy changed since it was read, or cannot be replaced. It is then unchanged.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        let now = match read(&self.of.target) {
            Ok((text, _)) => text,
            Err(error) if is_missing(&error) => None,
            Err(error) => return Err(error),
        };
        if now != self.of.text {
            bail!(
                "{} was changed by someone else meanwhile, so nothing was written: run the command again",
                self.of.shown.display()
            );
        }
        let target = directory_of(&self.of.target);
        if !is_same_directory(directory_of(&self.path), target) {
            // The policy is a link to another directory, and a file can only be renamed within one.
            let beside_target = self.of.stage_in(target, &self.text)?;
            return beside_target.rename();
        }
        self.rename()
    }

    fn rename(mut self) -> anyhow::Result<()> {
        fs::rename(&self.path, &self.of.target)
            .with_context(|| format!("cannot replace the policy {}", self.of.shown.display()))?;
        self.in_place = true;
        // The new name survives a crash of the machine once the directory is on disk. The edit counts anyway.
        let _ = self.of.target.parent().map(|directory| File::open(directory).and_then(|handle| handle.sync_all()));
        Ok(())
    }
}

impl Drop for StagedPolicy<'_> {
    fn drop(&mut self) {
        if !self.in_place {
            // If it stays, it is a file that no host reads.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the directory of a file.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        Some(_) | None => Path::new("."),
    }
}

fn is_same_directory(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Returns the file that a path leads to, and whether it exists.
fn target(path: &Path) -> io::Result<(PathBuf, bool)> {
    match fs::canonicalize(path) {
        Ok(target) => Ok((target, true)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(io::Error::new(ErrorKind::NotFound, "it is a link to a file that does not exist"));
            }
            Ok((std::path::absolute(path)?, false))
        }
        Err(error) => Err(error),
    }
}

/// Reads a regular file. Returns its text and its mode.
fn read(path: &Path) -> anyhow::Result<(Option<String>, u32)> {
    let file = portcullis_build::project_file::open(path)?;
    let mode = file.metadata()?.mode() & PERMISSION_BITS;
    let mut bytes = Vec::new();
    file.take(POLICY_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow!("the policy {} is not UTF-8", path.display()))?;
    Ok((Some(text), mode))
}
