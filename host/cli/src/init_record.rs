//! The record of what `init` wrote, so that `init --undo` and `uninstall` take back exactly that. It is one JSON file
//! in the program's configuration directory.
//!
//! For a configuration of an agent it keeps the bytes that were added and the bytes that they replaced, not the whole
//! file, because such a file may contain secrets.

use crate::user_files;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file of the record.
const RECORD_FILE: &str = "init.json";

/// The version of the format.
const VERSION: u32 = 1;

/// What `init` wrote.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InitRecord {
    version: u32,
    /// The projects, by their resolved directories.
    #[serde(default)]
    pub(crate) projects: BTreeMap<PathBuf, ProjectRecord>,
    /// The configurations of the user that all projects share.
    #[serde(default)]
    pub(crate) clients: Vec<ClientRecord>,
    /// The plugins that were installed, by file, with the SHA-256 of each.
    #[serde(default)]
    pub(crate) plugins: BTreeMap<PathBuf, String>,
}

/// What `init` wrote for one project.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectRecord {
    /// The policy, and the SHA-256 of what was written.
    pub(crate) policy: Option<(PathBuf, String)>,
    /// The configurations of the project.
    #[serde(default)]
    pub(crate) clients: Vec<ClientRecord>,
}

/// One change of an agent's configuration.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientRecord {
    /// The name of the agent.
    pub(crate) client: String,
    /// The file that was changed, behind all links.
    pub(crate) file: PathBuf,
    /// The directories that were created for it.
    pub(crate) created: Vec<PathBuf>,
    /// The SHA-256 of the file after the change.
    pub(crate) sha256: String,
    /// The change.
    pub(crate) change: FileChange,
}

/// How to get the old bytes of a file back.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum FileChange {
    /// The file did not exist.
    Created,
    /// Some bytes at an offset were replaced.
    Replaced {
        /// The offset in bytes.
        at: usize,
        /// The old text there.
        removed: String,
        /// The length of the new text there, in bytes.
        inserted_bytes: usize,
    },
}

impl Default for InitRecord {
    fn default() -> Self {
        Self { version: VERSION, projects: BTreeMap::new(), clients: Vec::new(), plugins: BTreeMap::new() }
    }
}

impl InitRecord {
    /// Returns the file of the record. `config` is the program's configuration directory.
    pub(crate) fn file(config: &Path) -> PathBuf {
        config.join(RECORD_FILE)
    }

    /// Reads the record. Without a file, nothing was written.
    ///
    /// # Errors
    /// The file cannot be read, or another version of the program wrote it.
    pub(crate) fn read(config: &Path) -> anyhow::Result<Self> {
        let file = Self::file(config);
        let context = || format!("cannot read {}, where `init` keeps what it wrote", file.display());
        let Some(bytes) = user_files::read(&file).with_context(context)? else { return Ok(Self::default()) };
        let record: Self = serde_json::from_slice(&bytes).with_context(context)?;
        anyhow::ensure!(record.version == VERSION, "{}: another version of portcullis wrote it", file.display());
        Ok(record)
    }

    /// Writes the record, or removes its file if nothing is left in it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, config: &Path) -> anyhow::Result<()> {
        let file = Self::file(config);
        let context = || format!("cannot write {}", file.display());
        if *self == Self::default() {
            return user_files::remove_all(&file).with_context(context);
        }
        user_files::create_parents(&file, user_files::PRIVATE).with_context(context)?;
        let before = user_files::read(&file).with_context(context)?;
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        user_files::replace(&file, before.as_deref(), &text, user_files::PRIVATE).with_context(context)
    }
}

impl FileChange {
    /// Returns the change between two texts.
    pub(crate) fn between(before: Option<&str>, after: &str) -> Self {
        let Some(before) = before else { return Self::Created };
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let mut start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        while !(before.is_char_boundary(start) && after.is_char_boundary(start)) {
            start -= 1;
        }
        // The common end must not overlap the common beginning, as it would in `aa` and `aaa`.
        let rest = old.len().min(new.len()) - start;
        let mut end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
        while !(before.is_char_boundary(old.len() - end) && after.is_char_boundary(new.len() - end)) {
            end -= 1;
        }
        let removed = before.get(start..old.len() - end).unwrap_or_default().to_owned();
        Self::Replaced { at: start, removed, inserted_bytes: new.len() - end - start }
    }

    /// Returns the old text of a file that still has its new text. `None` if the file did not exist.
    ///
    /// # Errors
    /// The text is too short.
    pub(crate) fn undone(&self, after: &str) -> anyhow::Result<Option<String>> {
        let Self::Replaced { at, removed, inserted_bytes } = self else { return Ok(None) };
        // The numbers are read from a file, so they can be anything.
        let parts = (after.get(..*at), after.get(at.saturating_add(*inserted_bytes)..));
        let (Some(head), Some(tail)) = parts else { anyhow::bail!("the record does not fit the file") };
        Ok(Some(format!("{head}{removed}{tail}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_can_be_undone_to_the_byte() {
        for (before, after) in [
            ("", "a"),
            ("{}", "{ \"a\": 1 }"),
            ("aXc", "abc"),
            ("é", "è"),
            ("aéb", "aèéb"),
            ("aa", "aaa"),
            ("same", "same"),
            ("long text\r\n", ""),
        ] {
            let undone = FileChange::between(Some(before), after).undone(after).unwrap();
            assert_eq!(undone.as_deref(), Some(before), "{before:?} {after:?}");
        }
        assert_eq!(FileChange::between(None, "a").undone("a").unwrap(), None);
        assert!(FileChange::between(Some("b"), "abc").undone("").is_err());
    }
}
