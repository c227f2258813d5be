//! Tells the lines of a difference apart: those of the host, the paths of files, and the lines of files. Counts the
//! lines of each hunk, so that no text of a file looks like a path.

/// A line of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DifferenceLine<'a> {
    /// A note of the host.
    Note,
    /// The place of the lines that follow.
    Hunk,
    /// The path of a file before or after the call.
    Path,
    /// A line of a file, without its sign.
    Unchanged(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// The lines of a hunk that are still to come, before the call and after it.
#[derive(Clone, Copy, Default)]
struct HunkRest {
    old: usize,
    new: usize,
}

/// Returns the lines of the host's difference, each as it is and as what it is.
pub(super) fn difference_lines(difference: &str) -> impl Iterator<Item = (&str, DifferenceLine<'_>)> {
    let mut rest = HunkRest::default();
    difference.split_terminator('\n').map(move |line| (line, rest.take(line)))
}

impl HunkRest {
    fn take<'a>(&mut self, line: &'a str) -> DifferenceLine<'a> {
        // Within a hunk, the host writes a sign before each line of a file, so a line with `@@` is always its own.
        if line.starts_with("@@") {
            let Some(hunk) = Self::of_header(line) else { return DifferenceLine::Note };
            *self = hunk;
            return DifferenceLine::Hunk;
        }
        if self.old + self.new == 0 {
            return DifferenceLine::Path;
        }
        let (old, new, found) = match (line.strip_prefix('-'), line.strip_prefix('+')) {
            (Some(text), _) => (1, 0, DifferenceLine::Removed(text)),
            (None, Some(text)) => (0, 1, DifferenceLine::Added(text)),
            (None, None) => (1, 1, DifferenceLine::Unchanged(line.strip_prefix(' ').unwrap_or(line))),
        };
        *self = Self { old: self.old.saturating_sub(old), new: self.new.saturating_sub(new) };
        found
    }

    /// Parses `@@ -1,2 +1,3 @@`. A length of 1 may be left out.
    fn of_header(line: &str) -> Option<Self> {
        let (old, new) = line.strip_prefix("@@ -")?.strip_suffix(" @@")?.split_once(" +")?;
        let length = |range: &str| {
            let (start, length) = range.split_once(',').unwrap_or((range, "1"));
            start.parse::<usize>().ok().and(length.parse().ok())
        };
        Some(Self { old: length(old)?, new: length(new)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_file_is_not_taken_for_a_path_or_a_note() {
        let difference = "@@ files computes that this call would change 1 file @@\n--- a/x\n+++ b/x\n\
                          @@ -39,3 +39 @@\n--- a/x\n-@@ -1 +1 @@\n+++ b/x\n@@ no newline at end of file @@\n \n\
                          --- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
        let found: Vec<DifferenceLine<'_>> = difference_lines(difference).map(|(_, line)| line).collect();
        assert_eq!(
            found,
            [
                DifferenceLine::Note,
                DifferenceLine::Path,
                DifferenceLine::Path,
                DifferenceLine::Hunk,
                DifferenceLine::Removed("-- a/x"),
                DifferenceLine::Removed("@@ -1 +1 @@"),
                DifferenceLine::Added("++ b/x"),
                DifferenceLine::Note,
                DifferenceLine::Unchanged(""),
                DifferenceLine::Path,
                DifferenceLine::Path,
                DifferenceLine::Hunk,
                DifferenceLine::Removed("y"),
            ]
        );
    }
}
