//! One file of a unified patch: its names, Git's extended headers, and its hunks.

use super::hunk;
use crate::patch::error::PatchError;
use crate::patch::format::{FileAction, FilePatch, PatchLines, path};
use crate::patch::hunk::{Hunk, Mark};
use crate::place::Place;

/// The name that stands for a file that does not exist.
const NO_FILE: &str = "/dev/null";

/// The mode of a regular file in Git. No other can be set: WASI has no file modes.
const REGULAR_MODE: &str = "100644";

/// Headers of Git that change nothing.
const IGNORED_HEADERS: [&str; 4] = ["index ", "similarity index ", "dissimilarity index ", "deleted file mode "];

/// A section as it is written.
#[derive(Debug, Default)]
pub(super) struct Section<'p> {
    patch_line: usize,
    /// The names of the first line in Git's format.
    git_names: Option<&'p str>,
    old: Option<&'p str>,
    new: Option<&'p str>,
    renamed: [Option<&'p str>; 2],
    is_new: bool,
    is_deleted: bool,
    hunks: Vec<Hunk<'p>>,
}

impl<'p> Section<'p> {
    /// Parses a section.
    pub(super) fn parse(lines: &mut PatchLines<'p>) -> Result<Self, PatchError> {
        let mut section = Self { patch_line: lines.number(), ..Self::default() };
        if let Some(names) = lines.peek().and_then(|line| line.strip_prefix("diff --git ")) {
            section.git_names = Some(names.trim_end());
            lines.skip();
            while let Some(line) = lines.peek() {
                if !section.take_header(line, lines.number())? {
                    break;
                }
                lines.skip();
            }
        }
        section.take_names(lines)?;
        loop {
            lines.skip_blank();
            if !lines.peek().is_some_and(|line| line.starts_with("@@")) {
                return Ok(section);
            }
            section.hunks.push(hunk::parse(lines)?);
        }
    }

    /// Reads a line of Git's extended header. Returns whether it was one.
    fn take_header(&mut self, line: &'p str, number: usize) -> Result<bool, PatchError> {
        if let Some(from) = line.strip_prefix("rename from ") {
            self.renamed[0] = Some(from.trim_end());
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.renamed[1] = Some(to.trim_end());
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.is_new = true;
            if mode.trim() != REGULAR_MODE {
                return Err(PatchError::at(number, format!("the mode can only be {REGULAR_MODE}; remove this line")));
            }
        } else if line.starts_with("old mode ") || line.starts_with("new mode ") {
            return Err(PatchError::at(number, "file modes cannot be changed; remove this line"));
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(PatchError::at(number, "copies are not supported; add the file with its content"));
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            return Err(PatchError::at(number, "binary files cannot be patched"));
        } else if IGNORED_HEADERS.iter().any(|header| line.starts_with(header)) {
            self.is_deleted |= line.starts_with("deleted ");
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads the lines `--- OLD` and `+++ NEW`. A section of Git without hunks has none.
    fn take_names(&mut self, lines: &mut PatchLines<'p>) -> Result<(), PatchError> {
        let number = lines.number();
        match lines.peek().and_then(|line| line.strip_prefix("--- ")) {
            Some(old) => {
                lines.skip();
                let Some(new) = lines.peek().and_then(|line| line.strip_prefix("+++ ")) else {
                    return Err(PatchError::at(lines.number(), "expected `+++ PATH` after `--- PATH`"));
                };
                lines.skip();
                (self.old, self.new) = (Some(name(old)), Some(name(new)));
                Ok(())
            }
            None if self.git_names.is_some() => Ok(()),
            None => {
                let text = "expected `--- PATH` and `+++ PATH`, `diff --git`, or a patch that begins with \
                            `*** Begin Patch`";
                Err(PatchError::at(number, text))
            }
        }
    }

    /// Returns whether all names of the section begin with `a/` and `b/`.
    fn is_prefixed(&self) -> bool {
        let names = [(self.old, "a/"), (self.new, "b/")];
        let mut names = names.iter().filter_map(|(name, prefix)| Some((*name.as_ref()?, *prefix)));
        names.all(|(name, prefix)| name == NO_FILE || name.starts_with(prefix))
    }

    fn resolve(self, is_prefixed: bool) -> Result<FilePatch<'p>, PatchError> {
        let patch_line = self.patch_line;
        let place = |name: &str, prefix: &str| {
            let name = if is_prefixed { name.strip_prefix(prefix).unwrap_or(name) } else { name };
            path(name, patch_line)
        };
        let wrong = |text: &str| Err(PatchError::at(patch_line, text));
        let names = match (self.old, self.new) {
            (Some(old), Some(new)) => Some((old, new)),
            (None, _) | (_, None) => None,
        };
        let ends = if let [Some(from), Some(to)] = self.renamed {
            // Git writes these names without its prefixes `a/` and `b/`.
            (Some(path(from, patch_line)?), Some(path(to, patch_line)?))
        } else if self.renamed != [None, None] {
            return wrong("`rename from PATH` and `rename to PATH` belong together");
        } else if let Some((old, new)) = names {
            let place = |name, prefix| if name == NO_FILE { Ok(None) } else { place(name, prefix).map(Some) };
            (place(old, "a/")?, place(new, "b/")?)
        } else {
            let Some(name) = self.git_names.and_then(same_name) else {
                return wrong("the file has no hunk; begin one with `@@`");
            };
            let place = path(name, patch_line)?;
            (Some(place.clone()).filter(|_| !self.is_new), Some(place).filter(|_| !self.is_deleted))
        };
        let is_rename = self.renamed != [None, None];
        match ends {
            (None, Some(new)) => added(patch_line, new, &self.hunks),
            (Some(old), None) => deleted(patch_line, old, self.hunks),
            (None, None) => wrong("both names are `/dev/null`"),
            (Some(old), Some(new)) if is_rename && old == new => {
                wrong(&format!("`{}` is renamed to itself", old.shown()))
            }
            (Some(old), Some(new)) if !is_rename && old != new => wrong(&format!(
                "`{}` and `{}` are two files; to rename, add `rename from PATH` and `rename to PATH` after `diff --git`",
                old.shown(),
                new.shown()
            )),
            (Some(_), Some(_)) if !is_rename && self.hunks.is_empty() => {
                wrong("the file has no hunk; begin one with `@@`")
            }
            (Some(place), Some(new)) => {
                let moved_to = is_rename.then_some(new);
                Ok(FilePatch { patch_line, place, action: FileAction::Update { moved_to, hunks: self.hunks } })
            }
        }
    }
}

/// Returns the files of a patch. Git's prefixes are removed if all names have them.
pub(super) fn resolve(sections: Vec<Section<'_>>) -> Result<Vec<FilePatch<'_>>, PatchError> {
    let is_prefixed = sections.iter().all(Section::is_prefixed);
    sections.into_iter().map(|section| section.resolve(is_prefixed)).collect()
}

/// Returns a name without the time that `diff -u` writes after it.
fn name(written: &str) -> &str {
    written.split_once('\t').map_or(written, |(name, _)| name).trim_end()
}

/// Returns the name in the first line of a section in Git's format, if it names one file, as `a/x b/x` or `x x`.
fn same_name(names: &str) -> Option<&str> {
    // Names can contain blanks, but both have the same length, so the blank in the middle is the separator.
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let new = new.strip_prefix(' ')?;
    match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
        (Some(old), Some(new)) => (old == new).then_some(old),
        (Some(_), None) | (None, _) => (old == new).then_some(old),
    }
}

fn added<'p>(patch_line: usize, place: Place, hunks: &[Hunk<'p>]) -> Result<FilePatch<'p>, PatchError> {
    let mut content = String::new();
    match hunks {
        [] => {}
        [hunk] if hunk.count(Mark::Added) == hunk.lines.len() => {
            for line in &hunk.lines {
                content.push_str(line.text);
                content.push('\n');
            }
            if hunk.new_is_unterminated {
                content.pop();
            }
        }
        [hunk, ..] => {
            let text = "a new file has one hunk, whose lines all begin with `+`";
            return Err(PatchError::at(hunk.patch_line, text));
        }
    }
    Ok(FilePatch { patch_line, place, action: FileAction::Add { content } })
}

fn deleted(patch_line: usize, place: Place, mut hunks: Vec<Hunk<'_>>) -> Result<FilePatch<'_>, PatchError> {
    let expected = hunks.pop().unwrap_or_else(|| Hunk::at(patch_line));
    if !hunks.is_empty() || expected.count(Mark::Removed) != expected.lines.len() {
        let text = "a deleted file has one hunk, whose lines all begin with `-`";
        return Err(PatchError::at(expected.patch_line, text));
    }
    Ok(FilePatch { patch_line, place, action: FileAction::Delete { expected: Some(expected) } })
}
