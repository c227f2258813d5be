//! The pause in the policy files: finds it, begins it and ends it, for the commands and for the console. This file must
//! not know who asks.

use crate::environment::{PolicyPlaces, open_named};
use crate::policy_file::EditedPolicyFile;
use crate::user_files;
use anyhow::{anyhow, ensure};
use portcullis::policy::{Layers, POLICY_BYTES, Pause, Policy, Trust};
use portcullis::policy_files::BUILT_IN_POLICY;
use portcullis_policy_edit::{PolicyEdit, apply};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The reason of a pause that gives none.
pub(crate) const REASON_DEFAULT: &str = "paused by the user";

/// The user's policy without its pause, not written yet.
pub(crate) struct Resumption {
    file: EditedPolicyFile,
    /// The new text.
    pub(crate) text: String,
}

/// Returns the pause of the policy files, without opening a host. A policy that cannot be read has none.
pub(crate) fn of_files(places: &PolicyPlaces) -> Option<Pause> {
    let user = match places {
        PolicyPlaces::Named(path) => text_of(path),
        PolicyPlaces::Usual { user, project: _ } => user.as_ref().and_then(|user| text_of(&user.path)),
    };
    let project = project_text(places);
    // A project can pause without trust, because a pause only narrows.
    let project = project.as_deref().map(|text| (text, Trust::Untrusted));
    let policy = Policy::layered(&Layers { built_in: None, user: user.as_deref(), project }).ok()?;
    policy.paused().cloned()
}

/// Pauses the user's policy. Opens no host, because it is for emergencies. Returns the file as the user named it.
///
/// # Errors
/// The policy cannot be read or replaced, or has an error.
pub(crate) fn pause(places: &PolicyPlaces, reason: &str) -> anyhow::Result<PathBuf> {
    let file = EditedPolicyFile::read(places)?;
    // The other layers change nothing about this, and reading them could fail.
    let layers = Layers { user: Some(file.text()), ..Layers::default() };
    let edited = apply(&layers, &PolicyEdit::Pause { reason: reason.to_owned() }, &[]).map_err(|error| {
        anyhow!("{error}. A running server keeps its last policy; stop it if it must not make calls")
    })?;
    file.replace(&edited.text)?;
    Ok(file.shown)
}

impl Resumption {
    /// Reads the policy, and computes its text without the pause.
    ///
    /// # Errors
    /// The policy cannot be read, has an error, is not paused, or another layer pauses it.
    pub(crate) fn read(places: &PolicyPlaces) -> anyhow::Result<Self> {
        let file = EditedPolicyFile::read(places)?;
        let project = project_text(places);
        let project = project.as_deref().map(|text| (text, Trust::Untrusted));
        let layers = Layers { built_in: Some(BUILT_IN_POLICY), user: Some(file.text()), project };
        let text = apply(&layers, &PolicyEdit::Resume, &[])?.text;
        Ok(Self { file, text })
    }

    /// Returns the file as the user named it.
    pub(crate) fn shown(&self) -> &Path {
        &self.file.shown
    }

    /// Returns the text with the pause.
    pub(crate) fn old_text(&self) -> &str {
        self.file.text()
    }

    /// Returns the SHA-256 of the text with the pause.
    pub(crate) fn sha256(&self) -> String {
        user_files::sha256(self.old_text().as_bytes())
    }

    /// Ends the pause, if the policy is still the one with this hash.
    ///
    /// # Errors
    /// The policy is another one, or cannot be replaced. It is then unchanged.
    pub(crate) fn write(&self, sha256: &str) -> anyhow::Result<()> {
        ensure!(self.sha256() == sha256, "the policy changed since you looked, so nothing was written: look again");
        self.file.replace(&self.text)
    }
}

/// Returns the text of the project's policy, if it can be read.
fn project_text(places: &PolicyPlaces) -> Option<String> {
    match places {
        PolicyPlaces::Named(_) => None,
        PolicyPlaces::Usual { user: _, project } => text_of(project),
    }
}

fn text_of(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_named(path).ok()?.take(POLICY_BYTES as u64).read_to_string(&mut text).ok()?;
    Some(text)
}
