//! The user's own policy file: reads it, and replaces it at once. This file must not know what an edit means.

use crate::environment::PolicyPlaces;
use crate::user_files::{self, PRIVATE};
use anyhow::{Context as _, anyhow};
use std::path::{Path, PathBuf, absolute};

/// The user's policy file, as it was read.
pub(crate) struct EditedPolicyFile {
    /// The path as the user gave it.
    pub(crate) shown: PathBuf,
    /// The file itself, links followed.
    target: PathBuf,
    /// The text, or none if the file does not exist.
    text: Option<String>,
}

/// A new text in a file beside the policy, from where its relative paths lead to the same places. It is removed when
/// this is dropped.
pub(crate) struct StagedPolicy(PathBuf);

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
        let what = || format!("cannot read the policy {}", path.display());
        // A missing file is resolved by the directory above it, which a relative path may lack.
        let target = absolute(path).and_then(|path| user_files::resolve(&path)).with_context(what)?;
        let text = user_files::read(&target).with_context(what)?.map(String::from_utf8).transpose();
        let text = text.map_err(|_| anyhow!("the policy {} is not UTF-8", path.display()))?;
        Ok(Self { shown: path.clone(), target, text })
    }

    /// Returns the text. It is empty if the file does not exist.
    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Writes a new text beside the policy, where a host can read it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn stage(&self, text: &str) -> anyhow::Result<StagedPolicy> {
        let what = || format!("cannot write beside the policy {}", self.shown.display());
        let name = self.target.file_name().context("the policy has no name")?.to_string_lossy();
        // The process makes one edit, so its number makes the name unique.
        let staged = self.shown.with_file_name(format!(".{name}.{}.new", std::process::id()));
        user_files::create_parents(&staged, PRIVATE).with_context(what)?;
        user_files::replace(&staged, None, text.as_bytes(), PRIVATE).with_context(what)?;
        Ok(StagedPolicy(staged))
    }

    /// Replaces the policy.
    ///
    /// # Errors
    /// The policy changed since it was read, or cannot be replaced. It is then unchanged.
    pub(crate) fn replace(&self, text: &str) -> anyhow::Result<()> {
        let what = || format!("cannot replace the policy {}", self.shown.display());
        user_files::create_parents(&self.target, PRIVATE).with_context(what)?;
        let before = self.text.as_deref().map(str::as_bytes);
        user_files::replace(&self.target, before, text.as_bytes(), PRIVATE).with_context(what)
    }
}

impl StagedPolicy {
    /// Returns the path of the new text.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for StagedPolicy {
    fn drop(&mut self) {
        // If it stays, it is a file that no host reads.
        let _ = user_files::remove_all(&self.0);
    }
}
