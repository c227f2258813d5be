//! Previews: the changes that a plugin claims for its call, as the ledger stores them, and the diff that an approver
//! sees.
//!
//! The text of a file after the call is the plugin's claim. The host reads the text before the call each time it shows
//! the difference. It shows no claim about a file that has changed since the preview was made.

use super::difference::{DIFFERENCE_BYTES_MAX, note, unified};
use crate::text::{OneLine, cut, sha256};
use portcullis_definitions::manifest::FileChange;
use portcullis_policy::{Access, PluginName};
use portcullis_sandbox::Directory;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum files of one preview: an approver would not read a longer list.
const FILES_MAX: usize = 32;

/// Maximum length of the text of one file, before or after the call, in bytes. An approver would not read a longer one.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Maximum length of all texts after the call, in bytes. The ledger keeps them as long as the approval request is open.
pub(crate) const TEXTS_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Maximum length of a plugin's own words, in bytes: a path, or the reason why it cannot compute a change.
const WORDS_BYTES_MAX: usize = 1024;

/// How long all files of a preview are compared. After that, the rest counts as changed. A person does not notice a
/// fifth of a second.
const COMPARE_TIME_MAX: Duration = Duration::from_millis(200);

/// Hexadecimal digits of a file's hash that are shown: enough to distinguish two states of a file.
const HASH_DIGITS: usize = 12;

/// The changes that a plugin claims for one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallPreview {
    plugin: PluginName,
    computed: Computed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Computed {
    /// The plugin has no preview.
    Nothing,
    /// Why there is no result.
    Failed(String),
    Files(Vec<ClaimedFile>),
    /// The changes of several calls, each with the name of its call.
    Calls(Vec<(String, CallPreview)>),
}

/// A file as the plugin claims that the call would leave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimedFile {
    /// The key of its directory, where the call can write to more than one.
    key: Option<String>,
    /// The directory, by its absolute path.
    place: String,
    /// The path from the directory on. The call's handle reaches it, and no mask hides it. So it can be read later
    /// without the masks.
    path: String,
    /// The text after the call. `None` if the call removes the file.
    content: Option<String>,
    /// The state of the file when the preview was made.
    before: FileState,
}

/// The state of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileState {
    Missing,
    /// The SHA-256 of its text.
    Text(String),
    /// Why the host cannot read it.
    Unreadable(String),
}

/// A directory that a call can write to.
pub(crate) struct WritableDirectory {
    /// The handle of this call.
    pub(crate) directory: Directory,
    /// Its absolute path.
    pub(crate) place: String,
}

impl CallPreview {
    /// Creates the result for a plugin that exports no preview.
    pub(crate) fn nothing(plugin: &PluginName) -> Self {
        Self { plugin: plugin.clone(), computed: Computed::Nothing }
    }

    /// Creates the preview of a plugin that failed to compute one. The reason can contain text of the plugin.
    pub(crate) fn failed(plugin: &PluginName, why: &str) -> Self {
        let why = OneLine(cut(why, WORDS_BYTES_MAX)).to_string();
        Self { plugin: plugin.clone(), computed: Computed::Failed(why) }
    }

    /// Checks that the call can write to each file that the plugin names, and records the current state of the file.
    pub(crate) fn of(
        plugin: &PluginName,
        changes: Vec<FileChange>,
        writable: &BTreeMap<String, WritableDirectory>,
    ) -> Self {
        match claimed_files(changes, writable) {
            Ok(files) => Self { plugin: plugin.clone(), computed: Computed::Files(files) },
            Err(why) => Self::failed(plugin, &why),
        }
    }

    /// Joins the previews of several calls of one plugin, each with the name of its call.
    pub(crate) fn of_calls(plugin: &PluginName, calls: Vec<(String, Self)>) -> Self {
        Self { plugin: plugin.clone(), computed: Computed::Calls(calls) }
    }

    /// Returns the bytes of the texts that the ledger would keep.
    pub(crate) fn text_bytes(&self) -> usize {
        match &self.computed {
            Computed::Nothing => 0,
            Computed::Failed(why) => why.len(),
            Computed::Files(files) => files.iter().filter_map(|file| file.content.as_ref()).map(String::len).sum(),
            Computed::Calls(calls) => calls.iter().map(|(_, preview)| preview.text_bytes()).sum(),
        }
    }

    /// Computes the text that is shown: the difference between each current file and the plugin's claim.
    pub(crate) fn difference(&self) -> String {
        let plugin = &self.plugin;
        let files = match &self.computed {
            Computed::Nothing => return note(&format!("{plugin} does not compute what this call would change")),
            Computed::Failed(why) => {
                return note(&format!("{plugin} could not compute what this call would change: {why}"));
            }
            Computed::Files(files) => files,
            Computed::Calls(calls) => return differences(calls),
        };
        let count = match files.len() {
            0 => "no file".to_owned(),
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        let mut shown = note(&format!("{plugin} computes that this call would change {count}"));
        let deadline = Instant::now() + COMPARE_TIME_MAX;
        let mut directories = OpenDirectories::default();
        for (index, file) in files.iter().enumerate() {
            let part = file.difference(directories.at(&file.place), deadline);
            shown.push_str(&file.heading(index + 1, files.len()));
            match shown.len() + part.len() <= DIFFERENCE_BYTES_MAX {
                true => shown.push_str(&part),
                false => shown.push_str(&note(TOO_LONG)),
            }
        }
        shown
    }
}

/// Shown in place of a difference that an approver would not read.
const TOO_LONG: &str = "the change in this file is too long to show";

/// Computes the text that is shown for several calls. Each is compared with the current files, not with what the calls
/// before it would leave.
fn differences(calls: &[(String, CallPreview)]) -> String {
    let mut shown = String::new();
    for (name, preview) in calls {
        let part = preview.difference();
        shown.push_str(&note(&OneLine(name).to_string()));
        match shown.len() + part.len() <= DIFFERENCE_BYTES_MAX {
            true => shown.push_str(&part),
            false => shown.push_str(&note("the change of this call is too long to show")),
        }
    }
    shown
}

/// Checks every change of a preview. The error says what is wrong with the first one that fails.
fn claimed_files(
    changes: Vec<FileChange>,
    writable: &BTreeMap<String, WritableDirectory>,
) -> Result<Vec<ClaimedFile>, String> {
    if changes.len() > FILES_MAX {
        return Err(format!("it names {} files, but at most {FILES_MAX} can be shown", changes.len()));
    }
    let bytes: usize = changes.iter().filter_map(|change| change.content.as_ref()).map(String::len).sum();
    if bytes > TEXTS_BYTES_MAX {
        return Err(format!("the files have {bytes} bytes, but at most {TEXTS_BYTES_MAX} can be shown"));
    }
    let mut named = BTreeSet::new();
    let mut files = Vec::with_capacity(changes.len());
    for change in changes {
        let file = claimed_file(change, writable)?;
        if !named.insert((file.place.clone(), file.path.clone())) {
            return Err(format!("it names the file {} twice", file.path));
        }
        files.push(file);
    }
    Ok(files)
}

fn claimed_file(change: FileChange, writable: &BTreeMap<String, WritableDirectory>) -> Result<ClaimedFile, String> {
    let FileChange { directory: key, path, content } = change;
    let Some(WritableDirectory { directory, place }) = writable.get(&key) else {
        let key = cut(&key, WORDS_BYTES_MAX);
        return Err(format!("it names the directory {key}, to which this call cannot write"));
    };
    let path = directory.file_path(&path).map_err(|why| {
        let path = cut(&path, WORDS_BYTES_MAX);
        format!("it names the file {path}, which this call cannot reach: {why}")
    })?;
    let before = FileState::of(&read(directory, &path));
    let key = (writable.len() > 1).then_some(key);
    Ok(ClaimedFile { key, place: place.clone(), path, content, before })
}

impl ClaimedFile {
    /// Returns the lines that name the file. The text of a file cannot imitate the first one, which begins with `@@`.
    fn heading(&self, number: usize, count: usize) -> String {
        let key = self.key.as_ref().map(|key| format!(", in the directory {key}")).unwrap_or_default();
        let mut heading = match (count, key.as_str()) {
            (1, "") => String::new(),
            (count, key) => note(&format!("file {number} of {count}{key}")),
        };
        let path = OneLine(&self.path);
        let (old, new) = (format!("a/{path}"), format!("b/{path}"));
        let none = "/dev/null".to_owned();
        let old = if self.before == FileState::Missing { &none } else { &old };
        let new = if self.content.is_none() { &none } else { &new };
        // Writing to a string cannot fail.
        let _ = write!(heading, "--- {old}\n+++ {new}\n");
        heading
    }

    /// Returns what would change in the current file.
    fn difference(&self, directory: Option<&Directory>, deadline: Instant) -> String {
        let Some(directory) = directory else { return note("its directory cannot be opened") };
        let text = read(directory, &self.path);
        let now = FileState::of(&text);
        if now != self.before {
            return note(&format!("the file has changed since the call was made, {now}: the change to it is unknown"));
        }
        let (what, old) = match (text, &self.content) {
            (Err(why), _) => return note(&format!("the change in it cannot be computed: {why}")),
            (Ok(None), None) => return note("the file does not exist, and nothing changes"),
            (Ok(None), Some(_)) => (note("a new file"), String::new()),
            (Ok(Some(old)), None) => (note("the file is removed"), old),
            (Ok(Some(old)), Some(_)) => (String::new(), old),
        };
        let new = self.content.as_deref().unwrap_or_default();
        let hunks = match new.len() <= TEXT_BYTES_MAX {
            // For an empty file that appears or is removed, `unified` would say that nothing changes.
            true if !what.is_empty() && old.is_empty() && new.is_empty() => Some(String::new()),
            true => unified(&old, new, deadline),
            false => None,
        };
        format!("{what}{}", hunks.unwrap_or_else(|| note(TOO_LONG)))
    }
}

impl FileState {
    fn of(text: &Result<Option<String>, String>) -> Self {
        match text {
            Ok(None) => Self::Missing,
            Ok(Some(text)) => Self::Text(sha256(text)),
            Err(why) => Self::Unreadable(why.clone()),
        }
    }
}

/// The current state, for an approver. Each state has its own text, so that an approval given for one state is not
/// taken for another.
impl std::fmt::Display for FileState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => formatter.write_str("and no longer exists"),
            Self::Text(sha256) => write!(formatter, "and is now SHA-256 {}", cut(sha256, HASH_DIGITS)),
            Self::Unreadable(why) => write!(formatter, "and cannot be read ({why})"),
        }
    }
}

/// Returns the text of a file, none if it does not exist, or why the host cannot read it.
fn read(directory: &Directory, path: &str) -> Result<Option<String>, String> {
    directory.read_text(path, TEXT_BYTES_MAX as u64).map_err(|error: io::Error| {
        let why = match error.kind() {
            ErrorKind::FileTooLarge => "the file is too long",
            ErrorKind::InvalidData => "the file is not text",
            _ => "the file cannot be read",
        };
        why.to_owned()
    })
}

/// Directories by their places, each opened once.
#[derive(Default)]
struct OpenDirectories<'a>(BTreeMap<&'a str, Option<Directory>>);

impl<'a> OpenDirectories<'a> {
    fn at(&mut self, place: &'a str) -> Option<&Directory> {
        let open = |place: &str| Directory::open(Path::new(place), Access::ReadOnly).ok();
        self.0.entry(place).or_insert_with(|| open(place)).as_ref()
    }
}
