//! The lexical form of a path: `.`, `..` and empty segments are resolved by text alone.
//!
//! This file must not know a file system. The code that opens a path handles links.

use std::borrow::Cow;

/// The characters that separate segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separators {
    /// Only `/`, as on Unix.
    Slash,
    /// `/` and `\`, as on Windows.
    BothSlashes,
}

/// A normalized path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Normalized<'a> {
    /// The path without a leading slash. It is empty for the root.
    Inside(Cow<'a, str>),
    /// The path climbs above its root.
    Outside,
}

/// Resolves `.`, `..` and empty segments. Without any, it allocates nothing.
pub(crate) fn normalize(path: &str, separators: Separators) -> Normalized<'_> {
    let needs_work = path.split('/').any(|segment| matches!(segment, "" | "." | ".."));
    if !needs_work && (separators == Separators::Slash || !path.contains('\\')) {
        return Normalized::Inside(Cow::Borrowed(path));
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split(|character| divides(character, separators)) {
        match segment {
            "" | "." => {}
            ".." => {
                if kept.pop().is_none() {
                    return Normalized::Outside;
                }
            }
            name => kept.push(name),
        }
    }
    Normalized::Inside(Cow::Owned(kept.join("/")))
}

fn divides(character: char, separators: Separators) -> bool {
    match separators {
        Separators::Slash => character == '/',
        Separators::BothSlashes => matches!(character, '/' | '\\'),
    }
}

/// Returns whether a path is unambiguous: it has no `.` or `..` segment, no backslash and no control character.
pub(crate) fn is_plain(path: &str) -> bool {
    !path.chars().any(|character| character == '\\' || character.is_control())
        && !path.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(path: &str) -> Normalized<'_> {
        Normalized::Inside(Cow::Borrowed(path))
    }

    #[test]
    fn dots_and_empty_segments_are_resolved() {
        let rows = [
            ("", ""),
            ("a/b", "a/b"),
            ("/a/b/", "a/b"),
            ("a//b", "a/b"),
            ("./a/./b/.", "a/b"),
            ("a/../b", "b"),
            ("a/b/../../c", "c"),
            ("a/..", ""),
            (".", ""),
            ("/", ""),
            ("...", "..."),
            ("a/.b/..c", "a/.b/..c"),
        ];
        for (path, normalized) in rows {
            assert_eq!(normalize(path, Separators::Slash), inside(normalized), "{path:?}");
        }
    }

    #[test]
    fn a_path_that_climbs_above_its_root_is_outside() {
        for path in ["..", "../a", "a/../..", "/..", "a/../../a", "./..", "a//../../b"] {
            assert_eq!(normalize(path, Separators::Slash), Normalized::Outside, "{path:?}");
        }
    }

    #[test]
    fn a_backslash_separates_only_with_both_slashes() {
        assert_eq!(normalize("a\\..\\b", Separators::Slash), inside("a\\..\\b"));
        assert_eq!(normalize("a\\..\\b", Separators::BothSlashes), inside("b"));
        assert_eq!(normalize("a\\..\\..\\b", Separators::BothSlashes), Normalized::Outside);
    }

    #[test]
    fn only_plain_paths_are_plain() {
        for path in ["", "a", "a/b", "/a", "a//b", "a b", ".a", "a..", "é/…"] {
            assert!(is_plain(path), "{path:?}");
        }
        for path in [".", "..", "a/./b", "a/..", "a\\b", "a\0", "a\nb", "a\u{85}b", "a\u{7f}"] {
            assert!(!is_plain(path), "{path:?}");
        }
    }
}
