//! What a call would change in a file, as far as its arguments say it in a usual way: the host's own reading, for the
//! person who is asked. It is a help and no promise: what runs are the arguments.

use crate::text::cut;
use portcullis_sandbox::Directory;
use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};
use std::fmt::Write;
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

/// The longest text that is compared, in bytes: nobody reads the difference of longer ones.
const TEXT_BYTES_MAX: u64 = 1024 * 1024;

/// The most lines of a difference, which are more than anybody reads before a yes.
const LINES_MAX: usize = 400;

/// The longest line of a difference, in bytes: five rows of a terminal.
const LINE_BYTES_MAX: usize = 400;

/// Unchanged lines around a change: as many as people are used to.
const CONTEXT_LINES: usize = 3;

/// How long two texts are compared before the rest is taken as changed: a person does not notice a fifth of a second.
const TIME_MAX: Duration = Duration::from_millis(200);

/// A change that arguments speak of.
pub(crate) enum Edit {
    /// The file is to hold this.
    Whole {
        /// The file, in the one directory that the plugin has.
        path: String,
        /// What it is to hold.
        content: String,
    },
    /// These texts are to be replaced, each by the one beside it.
    Pairs(Vec<(String, String)>),
}

impl Edit {
    /// What the arguments of a tool that may write speak of, if they do.
    pub(crate) fn of(arguments: &Map<String, Value>) -> Option<Self> {
        let path = text(arguments, &PATH_NAMES).filter(|path| is_plain(path))?;
        if let Some(content) = text(arguments, &CONTENT_NAMES) {
            return Some(Self::Whole { path: path.to_owned(), content: content.to_owned() });
        }
        if let Some(pair) = pair(arguments) {
            return Some(Self::Pairs(vec![pair]));
        }
        let pairs = arguments.get(PAIRS_NAME)?.as_array()?.iter().take(LINES_MAX);
        let pairs: Option<Vec<_>> = pairs.map(|item| pair(item.as_object()?)).collect();
        pairs.filter(|pairs| !pairs.is_empty()).map(Self::Pairs)
    }

    /// The difference; nothing where it cannot be made. It may read a file of the directory.
    pub(crate) fn difference(&self, directory: Option<&Directory>) -> Option<String> {
        let mut lines = Lines::default();
        match self {
            Self::Whole { path, content } => {
                let old = directory?.read_text(Path::new(path), TEXT_BYTES_MAX).ok()?;
                if old.is_none() {
                    lines.note("a new file");
                }
                lines.compare(old.as_deref().unwrap_or_default(), content)?;
            }
            Self::Pairs(pairs) => {
                for (old, new) in pairs {
                    lines.compare(old, new)?;
                }
            }
        }
        Some(lines.finish())
    }
}

/// The one of these arguments that is a text; nothing where several are, since then the tool may mean another.
fn text<'a>(arguments: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    let mut found = names.iter().filter_map(|name| arguments.get(*name)?.as_str());
    found.next().filter(|_| found.next().is_none())
}

fn pair(arguments: &Map<String, Value>) -> Option<(String, String)> {
    let pair = |(old, new): (&str, &str)| Some((arguments.get(old)?.as_str()?, arguments.get(new)?.as_str()?));
    PAIR_NAMES.into_iter().find_map(pair).map(|(old, new)| (old.to_owned(), new.to_owned()))
}

/// Whether a path says itself where it leads: down from the directory, name by name.
fn is_plain(path: &str) -> bool {
    !path.contains(['\\', '\0']) && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// The lines of a difference. Those that begin with `@@` are the host's.
#[derive(Default)]
struct Lines {
    text: String,
    count: usize,
    left_out: usize,
}

impl Lines {
    /// Adds what differs; nothing where the texts are too long.
    fn compare(&mut self, old: &str, new: &str) -> Option<()> {
        let short = |text: &str| u64::try_from(text.len()).is_ok_and(|length| length <= TEXT_BYTES_MAX);
        if !short(old) || !short(new) {
            return None;
        }
        let difference = TextDiff::configure().timeout(TIME_MAX).diff_lines(old, new);
        for group in difference.grouped_ops(CONTEXT_LINES) {
            if let Some(first) = group.first() {
                let (old, new) = (first.old_range().start + 1, first.new_range().start + 1);
                self.note(&format!("from line {old}, which becomes line {new}"));
            }
            for change in group.iter().flat_map(|operation| difference.iter_changes(operation)) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                self.add(sign, change.value());
            }
        }
        Some(())
    }

    fn add(&mut self, sign: char, value: &str) {
        let line = value.strip_suffix('\n');
        let shown = cut(line.unwrap_or(value), LINE_BYTES_MAX);
        let left = line.unwrap_or(value).len() - shown.len();
        self.push(&format!("{sign}{shown}"));
        if left > 0 {
            self.note(&format!("{left} more bytes of this line are not shown"));
        } else if line.is_none() && sign != ' ' {
            self.note("without a line break at its end");
        }
    }

    fn note(&mut self, words: &str) {
        self.push(&format!("@@ {words} @@"));
    }

    fn push(&mut self, line: &str) {
        if self.count >= LINES_MAX {
            self.left_out += 1;
            return;
        }
        self.count += 1;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn finish(mut self) -> String {
        if self.count == 0 {
            self.note("nothing changes");
        }
        if self.left_out > 0 {
            let _ = writeln!(self.text, "@@ {} more lines are not shown @@", self.left_out);
        }
        self.text
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use super::*;
    use portcullis_policy::Access;
    use serde_json::json;
    use std::fs;

    fn edit(arguments: &Value) -> Option<Edit> {
        Edit::of(arguments.as_object().unwrap())
    }

    fn site(files: &[(&str, &str)]) -> (std::path::PathBuf, Directory) {
        let path = std::env::temp_dir().join(format!("portcullis-difference-{}", crate::text::new_id().unwrap()));
        fs::create_dir(&path).unwrap();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
        }
        let directory = Directory::open(&path, Access::ReadWrite).unwrap();
        (path, directory)
    }

    #[test]
    fn a_write_is_compared_with_the_file_as_it_is() {
        let (path, directory) = site(&[("a.txt", "one\ntwo\nthree\n")]);
        let of = |arguments: Value| edit(&arguments).unwrap().difference(Some(&directory));
        let changed = of(json!({ "path": "a.txt", "content": "one\n2\nthree" })).unwrap();
        let expected = "@@ from line 1, which becomes line 1 @@\n one\n-two\n-three\n+2\n+three\n\
                        @@ without a line break at its end @@\n";
        assert_eq!(changed, expected);
        let new = of(json!({ "file": "b.txt", "text": "x\ny\n" })).unwrap();
        assert_eq!(new, "@@ a new file @@\n@@ from line 1, which becomes line 1 @@\n+x\n+y\n");
        let same = of(json!({ "path": "a.txt", "content": "one\ntwo\nthree\n" })).unwrap();
        assert_eq!(same, "@@ nothing changes @@\n");
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_replacement_is_compared_with_what_it_replaces() {
        for arguments in [
            json!({ "path": "a", "old_string": "1\n", "new_string": "2\n" }),
            json!({ "path": "a", "edits": [{ "old": "1\n", "new": "2\n" }] }),
        ] {
            let difference = edit(&arguments).unwrap().difference(None).unwrap();
            assert_eq!(difference, "@@ from line 1, which becomes line 1 @@\n-1\n+2\n", "{arguments}");
        }
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
        ] {
            assert!(edit(&arguments).is_none(), "{arguments}");
        }
    }

    #[test]
    fn links_and_what_is_no_text_are_not_read() {
        let (path, directory) = site(&[("text", "secret\n")]);
        std::os::unix::fs::symlink("text", path.join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", path.join("out")).unwrap();
        fs::write(path.join("bytes"), b"\xff\xfe").unwrap();
        fs::write(path.join("large"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .unwrap();
        for name in ["link", "out/passwd", "bytes", "large", "pipe", "."] {
            let edit = Edit::Whole { path: name.to_owned(), content: "x".to_owned() };
            assert!(edit.difference(Some(&directory)).is_none(), "{name}");
        }
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_difference_is_bounded_whatever_the_texts_are() {
        let long = "y".repeat(1000);
        let many: String = (0..50_000).map(|line| format!("{line} {}\n", line % 7)).collect();
        let edit = Edit::Pairs(vec![(long.clone(), "x".repeat(1000)), (many.clone(), many.replace('1', "2"))]);
        let difference = edit.difference(None).unwrap();
        assert_eq!(difference.lines().count(), LINES_MAX + 1);
        assert!(difference.lines().all(|line| line.len() <= LINE_BYTES_MAX + 1), "{difference}");
        assert!(difference.contains("600 more bytes of this line are not shown"), "{difference}");
        assert!(Edit::Pairs(vec![(many.repeat(10), long)]).difference(None).is_none());
    }
}
