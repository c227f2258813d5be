//! What a call would change in a file, computed from its arguments and from the file as it is now.
//!
//! It follows the rules of the shipped `files.write` and `files.edit`. Another plugin's tool may do something else, so
//! it is a help beside the arguments and never in their place.

use crate::text::sha256;
use portcullis_policy::Access;
use portcullis_sandbox::Directory;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// Names of an argument that says which file.
const PATH_NAMES: [&str; 4] = ["path", "file", "file_path", "filename"];

/// Names of an argument that holds all that the file is to be.
const CONTENT_NAMES: [&str; 3] = ["content", "contents", "text"];

/// Names of a text and of what is put in its place.
const PAIR_NAMES: [(&str, &str); 3] = [("old", "new"), ("old_text", "new_text"), ("old_string", "new_string")];

/// The name of a list of such pairs.
const PAIRS_NAME: &str = "edits";

/// The name of the flag beside a pair that replaces every occurrence.
const ALL_NAME: &str = "replace_all";

/// Maximum replacements of one call, as `files.edit` has it.
const REPLACEMENTS_MAX: usize = 1000;

/// Maximum length of a text that is compared, and of a difference, in bytes: nobody reads a longer one. A longer
/// difference is not shown at all, because a part of it looks like the whole.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// Unchanged lines around a change: as many as people are used to.
const CONTEXT_LINES: usize = 3;

/// How long two texts are compared before the rest is taken as changed: a person does not notice a fifth of a second.
const TIME_MAX: Duration = Duration::from_millis(200);

/// A change that arguments speak of.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The file, in the one directory that the plugin has.
    path: String,
    change: Change,
}

#[derive(Debug)]
enum Change {
    /// The file is to hold this.
    Whole(String),
    /// These texts are to be replaced, one after the other.
    Replacements(Vec<Replacement>),
}

#[derive(Debug)]
struct Replacement {
    old: String,
    new: String,
    /// Whether every occurrence is replaced; otherwise there has to be exactly one.
    all: bool,
}

/// Where an edit takes place, and what its file was when the call was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditTarget {
    /// The directory, by its absolute path.
    pub(crate) place: String,
    /// The SHA-256 of the file; none where it was missing or could not be read.
    pub(crate) file_sha256: Option<String>,
}

/// What an edit would change now.
pub(crate) struct Preview {
    /// A unified difference, or why there is none. Lines that begin with `@@` are the host's.
    pub(crate) text: String,
    /// The SHA-256 of the file; none where it is missing or cannot be read.
    pub(crate) file_sha256: Option<String>,
}

/// The text for a difference that cannot be computed.
pub(crate) fn not_computed(why: &str) -> String {
    format!("@@ what would change cannot be computed: {why} @@\n")
}

impl EditTarget {
    /// Computes what these arguments would change now, and says so where the file is not what it was.
    pub(crate) fn preview_again(&self, arguments: &Map<String, Value>) -> Option<String> {
        let preview = Edit::of(arguments)?.preview(&self.place);
        let changed = if preview.file_sha256 == self.file_sha256 { "" } else { FILE_CHANGED };
        Some(format!("{changed}{}", preview.text))
    }
}

/// What is said above a difference whose file has changed.
const FILE_CHANGED: &str = "@@ the file has changed since the call was made @@\n";

impl Edit {
    /// What the arguments of a tool that may write speak of, if they do.
    pub(crate) fn of(arguments: &Map<String, Value>) -> Option<Self> {
        let path = text(arguments, &PATH_NAMES).filter(|path| is_plain(path))?.to_owned();
        if let Some(content) = text(arguments, &CONTENT_NAMES) {
            return Some(Self { path, change: Change::Whole(content.to_owned()) });
        }
        if let Some(replacement) = replacement(arguments) {
            return Some(Self { path, change: Change::Replacements(vec![replacement]) });
        }
        let items = arguments.get(PAIRS_NAME)?.as_array()?;
        let replacements: Option<Vec<_>> = items.iter().map(|item| replacement(item.as_object()?)).collect();
        let replacements = replacements.filter(|list| !list.is_empty() && list.len() <= REPLACEMENTS_MAX)?;
        Some(Self { path, change: Change::Replacements(replacements) })
    }

    /// Computes what it would change in the file as it is now, below this directory.
    pub(crate) fn preview(&self, place: &str) -> Preview {
        let failed = |why: &str| Preview { text: not_computed(why), file_sha256: None };
        let Ok(directory) = Directory::open(Path::new(place), Access::ReadOnly) else {
            return failed("its directory cannot be opened");
        };
        match directory.read_text(Path::new(&self.path), TEXT_BYTES_MAX) {
            Ok(old) => {
                let text = self.difference(old.as_deref()).unwrap_or_else(|why| not_computed(&why));
                Preview { text, file_sha256: old.map(sha256) }
            }
            Err(error) => failed(match error.kind() {
                ErrorKind::FileTooLarge => "the file is too long",
                ErrorKind::InvalidData => "the file is no text",
                _ => "the file cannot be read",
            }),
        }
    }

    /// The difference to this text of the file, or why it cannot be told.
    fn difference(&self, old: Option<&str>) -> Result<String, String> {
        match (&self.change, old) {
            (Change::Whole(content), Some(old)) => unified(String::new(), old, content),
            (Change::Whole(content), None) => unified("@@ a new file @@\n".to_owned(), "", content),
            (Change::Replacements(_), None) => Err("there is no such file".to_owned()),
            (Change::Replacements(replacements), Some(old)) => {
                let old = with_one_line_end(old)?;
                let (new, count) = replaced(&old, replacements)?;
                let noun = if count == 1 { "replacement" } else { "replacements" };
                unified(format!("@@ {count} {noun} @@\n"), &old, &new)
            }
        }
    }
}

/// The one of these arguments that is a text; nothing where several are, since then the tool may mean another.
fn text<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    let mut found = names.iter().filter_map(|name| arguments.get(*name)?.as_str());
    found.next().filter(|_| found.next().is_none())
}

fn replacement(arguments: &Map<String, Value>) -> Option<Replacement> {
    let pair = |(old, new): (&str, &str)| Some((arguments.get(old)?.as_str()?, arguments.get(new)?.as_str()?));
    let (old, new) = PAIR_NAMES.into_iter().find_map(pair)?;
    let all = match arguments.get(ALL_NAME) {
        None => false,
        Some(flag) => flag.as_bool()?,
    };
    Some(Replacement { old: to_lf(old), new: to_lf(new), all })
}

/// Whether a path says itself where it leads: down from the directory, name by name.
fn is_plain(path: &str) -> bool {
    !path.contains(['\\', '\0']) && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

fn to_lf(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The text with `\n` for each line end. The tool writes the line ends that the file has.
fn with_one_line_end(text: &str) -> Result<String, String> {
    let (carriage_returns, lines) = (text.matches("\r\n").count(), text.matches('\n').count());
    if carriage_returns > 0 && carriage_returns < lines {
        return Err("the file has line ends of two kinds".to_owned());
    }
    Ok(to_lf(text))
}

/// The text after all replacements, and how many were made.
fn replaced(text: &str, replacements: &[Replacement]) -> Result<(String, usize), String> {
    let (mut text, mut count) = (text.to_owned(), 0);
    for (index, replacement) in replacements.iter().enumerate() {
        let made = replace(&text, replacement).map_err(|why| match replacements.len() {
            1 => why.to_owned(),
            _ => format!("edit {}: {why}", index + 1),
        })?;
        (text, count) = (made.0, count + made.1);
        check_length(&text)?;
    }
    Ok((text, count))
}

fn replace(text: &str, replacement: &Replacement) -> Result<(String, usize), &'static str> {
    let Replacement { old, new, all } = replacement;
    let Some(first) = old.chars().next() else { return Err("the text to replace is empty") };
    match (text.find(old), all) {
        (Some(_), true) => Ok((text.replace(old, new), text.matches(old).count())),
        // Occurrences that overlap are two as well.
        (Some(at), false) if text[at + first.len_utf8()..].contains(old) => {
            Err("the text to replace occurs more than once")
        }
        (Some(at), false) => Ok((splice(text, at, old, new), 1)),
        (None, _) => at_the_end(text, old, new).map(|text| (text, 1)).ok_or("the text to replace does not occur"),
    }
}

/// A last line without a line end matches one that has one, and goes on to have none.
fn at_the_end(text: &str, old: &str, new: &str) -> Option<String> {
    let old = old.strip_suffix('\n').filter(|old| !old.is_empty() && text.ends_with(old))?;
    Some(splice(text, text.len() - old.len(), old, new.strip_suffix('\n').unwrap_or(new)))
}

fn splice(text: &str, at: usize, old: &str, new: &str) -> String {
    [&text[..at], new, &text[at + old.len()..]].concat()
}

fn check_length(text: &str) -> Result<(), String> {
    let fits = u64::try_from(text.len()).is_ok_and(|length| length <= TEXT_BYTES_MAX);
    if fits { Ok(()) } else { Err("it is too long to show".to_owned()) }
}

/// Appends the unified difference of two texts.
fn unified(mut shown: String, old: &str, new: &str) -> Result<String, String> {
    check_length(old)?;
    check_length(new)?;
    if old == new {
        shown.push_str("@@ nothing changes @@\n");
        return Ok(shown);
    }
    let difference = TextDiff::configure().timeout(TIME_MAX).diff_lines(old, new);
    for hunk in difference.grouped_ops(CONTEXT_LINES) {
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{}", hunk_header(&hunk));
        for change in hunk.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let value = change.value();
            let end = if value.ends_with('\n') { "" } else { "\n@@ no line end at the end of the file @@\n" };
            let _ = write!(shown, "{sign}{value}{end}");
        }
        check_length(&shown)?;
    }
    Ok(shown)
}

fn hunk_header(hunk: &[DiffOp]) -> String {
    let range = |start: usize, end: usize| match end - start {
        // An empty range stands behind the line of its number.
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        length => format!("{},{length}", start + 1),
    };
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return String::new() };
    let old = range(first.old_range().start, last.old_range().end);
    let new = range(first.new_range().start, last.new_range().end);
    format!("@@ -{old} +{new} @@")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use std::path::PathBuf;

    fn edit(arguments: &Value) -> Option<Edit> {
        Edit::of(arguments.as_object().unwrap())
    }

    fn site(files: &[(&str, &str)]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("portcullis-difference-{}", crate::text::new_id().unwrap()));
        fs::create_dir(&path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
        path
    }

    fn preview(path: &Path, arguments: &Value) -> String {
        edit(arguments).unwrap().preview(path.to_str().unwrap()).text
    }

    #[test]
    fn a_write_is_compared_with_the_file_as_it_is() {
        let path = site(&[("a.txt", "one\ntwo\nthree\n")]);
        let of = |arguments: Value| preview(&path, &arguments);
        let expected = "@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+three\n\
                        @@ no line end at the end of the file @@\n";
        assert_eq!(of(json!({ "path": "a.txt", "content": "one\n2\nthree" })), expected);
        assert_eq!(of(json!({ "file": "b.txt", "text": "x\ny\n" })), "@@ a new file @@\n@@ -0,0 +1,2 @@\n+x\n+y\n");
        assert_eq!(of(json!({ "path": "a.txt", "content": "one\ntwo\nthree\n" })), "@@ nothing changes @@\n");
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_replacement_is_shown_where_it_will_be_made() {
        let lines: String = (1..=600).map(|line| format!("line {line}\n")).collect();
        let path = site(&[("a", &lines), ("crlf", "1\r\n2\r\n")]);
        let at_500 = "@@ 1 replacement @@\n@@ -497,7 +497,7 @@\n line 497\n line 498\n line 499\n-line 500\n+five\n \
                      line 501\n line 502\n line 503\n";
        for arguments in [
            json!({ "path": "a", "old_string": "line 500\n", "new_string": "five\n" }),
            json!({ "path": "a", "edits": [{ "old": "line 500", "new": "five" }] }),
        ] {
            assert_eq!(preview(&path, &arguments), at_500, "{arguments}");
        }
        let all =
            preview(&path, &json!({ "path": "a", "edits": [{ "old": "line", "new": "row", "replace_all": true }] }));
        assert!(all.starts_with("@@ 600 replacements @@\n@@ -1,600 +1,600 @@\n-line 1\n"), "{all}");
        assert_eq!((all.matches("\n-line").count(), all.matches("\n+row").count()), (600, 600));
        let crlf = preview(&path, &json!({ "path": "crlf", "old": "2\n", "new": "3\n" }));
        assert_eq!(crlf, "@@ 1 replacement @@\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n");
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn what_cannot_be_computed_is_said_to_be() {
        let path = site(&[("a", "1\n1\n11\n"), ("mixed", "1\r\n2\n"), ("bytes", ""), ("large", "")]);
        fs::write(path.join("bytes"), b"\xff\xfe").unwrap();
        fs::write(path.join("large"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
        for (file, old, why) in [
            ("none", "1", "there is no such file"),
            ("a", "2", "the text to replace does not occur"),
            ("a", "1", "the text to replace occurs more than once"),
            ("a", "", "the text to replace is empty"),
            ("mixed", "1", "the file has line ends of two kinds"),
            ("bytes", "1", "the file is no text"),
            ("large", "x", "the file is too long"),
        ] {
            assert_eq!(preview(&path, &json!({ "path": file, "old": old, "new": "x" })), not_computed(why), "{file}");
        }
        let grown =
            json!({ "path": "a", "edits": [{ "old": "1", "new": "x".repeat(1024 * 1024), "replace_all": true }] });
        assert_eq!(preview(&path, &grown), not_computed("it is too long to show"));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_file_that_has_changed_is_said_to_have() {
        let path = site(&[]);
        let arguments = json!({ "path": "a", "content": "new\n" });
        let place = path.to_str().unwrap().to_owned();
        let target = EditTarget { file_sha256: edit(&arguments).unwrap().preview(&place).file_sha256, place };
        let now = || target.preview_again(arguments.as_object().unwrap()).unwrap();
        assert_eq!(now(), "@@ a new file @@\n@@ -0,0 +1 @@\n+new\n");
        fs::write(path.join("a"), "old\n").unwrap();
        assert_eq!(now(), format!("{FILE_CHANGED}@@ -1 +1 @@\n-old\n+new\n"));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn nothing_is_said_where_the_arguments_say_nothing_plain() {
        for arguments in [
            json!({ "content": "x" }),
            json!({ "path": "a" }),
            json!({ "path": "/a", "content": "x" }),
            json!({ "path": "../a", "content": "x" }),
            json!({ "path": "a//b", "content": "x" }),
            json!({ "path": "a\\b", "content": "x" }),
            json!({ "path": "a", "file": "b", "content": "x" }),
            json!({ "path": "a", "content": "x", "text": "y" }),
            json!({ "path": "a", "content": 1 }),
            json!({ "path": "a", "edits": [] }),
            json!({ "path": "a", "edits": [{ "old": "x" }] }),
            json!({ "path": "a", "edits": [{ "old": "x", "new": "y", "replace_all": "yes" }] }),
        ] {
            assert!(edit(&arguments).is_none(), "{arguments}");
        }
    }

    #[test]
    fn links_and_special_files_are_not_read() {
        let path = site(&[("text", "secret\n")]);
        std::os::unix::fs::symlink("text", path.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", path.join("out")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        for name in ["link", "out/passwd", "pipe"] {
            let shown = preview(&path, &json!({ "path": name, "content": "x" }));
            assert_eq!(shown, not_computed("the file cannot be read"), "{name}");
        }
        fs::remove_dir_all(path).unwrap();
    }
}
