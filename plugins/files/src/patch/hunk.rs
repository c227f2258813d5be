//! One hunk of a patch: lines to find in a file, and lines to put in their place.

use super::error::PatchError;

/// What a line of a hunk stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Context,
    Removed,
    Added,
}

impl Mark {
    /// Returns the mark that a line of a patch begins with.
    pub(super) fn of(line: &str) -> Option<Self> {
        match line.as_bytes().first()? {
            b' ' => Some(Self::Context),
            b'-' => Some(Self::Removed),
            b'+' => Some(Self::Added),
            _ => None,
        }
    }
}

/// A line of a hunk, without its mark and its line ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HunkLine<'p> {
    pub(super) mark: Mark,
    pub(super) text: &'p str,
}

/// A hunk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk<'p> {
    /// The line of the patch in which the hunk begins, counted from 1.
    pub(super) patch_line: usize,
    /// The line of the file in which the hunk begins, counted from 1, as the patch claims.
    pub(super) claimed_line: Option<usize>,
    /// Lines of the file that come before the hunk, in their order.
    pub(super) headers: Vec<&'p str>,
    pub(super) lines: Vec<HunkLine<'p>>,
    /// Whether the old lines end with the file.
    pub(super) is_at_end: bool,
    /// Whether the old lines end with the file, and the file has no final newline.
    pub(super) old_is_unterminated: bool,
    /// Whether the file has no final newline afterwards.
    pub(super) new_is_unterminated: bool,
}

impl<'p> Hunk<'p> {
    pub(super) fn at(patch_line: usize) -> Self {
        Self { patch_line, ..Self::default() }
    }

    /// Adds a line.
    pub(super) fn push(&mut self, mark: Mark, text: &'p str, patch_line: usize) -> Result<(), PatchError> {
        let follows_the_last_line = match mark {
            Mark::Context => self.old_is_unterminated || self.new_is_unterminated,
            Mark::Removed => self.old_is_unterminated,
            Mark::Added => self.new_is_unterminated,
        };
        if follows_the_last_line {
            let text = "a line follows one that is marked `\\ No newline at end of file`; only the last line can be";
            return Err(PatchError::at(patch_line, text));
        }
        self.lines.push(HunkLine { mark, text });
        Ok(())
    }

    /// Marks the last line as one without a newline.
    pub(super) fn unterminate(&mut self, patch_line: usize) -> Result<(), PatchError> {
        let Some(last) = self.lines.last() else {
            return Err(PatchError::at(patch_line, "`\\ No newline at end of file` must follow a line of a hunk"));
        };
        self.old_is_unterminated |= last.mark != Mark::Added;
        self.new_is_unterminated |= last.mark != Mark::Removed;
        Ok(())
    }

    /// Returns the lines to find.
    pub(super) fn old_lines(&self) -> Vec<&'p str> {
        self.lines.iter().filter(|line| line.mark != Mark::Added).map(|line| line.text).collect()
    }

    /// Returns how many lines have a mark.
    pub(super) fn count(&self, mark: Mark) -> usize {
        self.lines.iter().filter(|line| line.mark == mark).count()
    }

    /// Returns whether the hunk must match the end of the file.
    pub(super) fn ends_the_file(&self) -> bool {
        self.is_at_end || self.old_is_unterminated || self.new_is_unterminated
    }
}
