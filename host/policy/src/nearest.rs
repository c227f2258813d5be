//! Finds the known name that was probably meant by an unknown one.

/// Bytes of the written name per allowed edit, so that a suggestion is a likely misspelling and not just another name.
const BYTES_PER_EDIT: usize = 3;

/// Maximum length of a name that is compared, in bytes. The time of a comparison is proportional to the product of both
/// lengths.
const NAME_BYTES_MAX: usize = 64;

/// Returns the known name that is nearest to a written one, if it is near enough. Ignores case and separators.
pub fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if written.len() > NAME_BYTES_MAX {
        return None;
    }
    let (edits_max, plain_written) = (written.len().div_ceil(BYTES_PER_EDIT), plain(written));
    let known = known.filter(|name| name.len() <= NAME_BYTES_MAX);
    let near = known.map(|name| (edits(&plain_written, &plain(name)), name));
    // Of equally near names, the first in the alphabet, so that a message does not depend on their order.
    near.filter(|(edits, _)| *edits <= edits_max).min().map(|(_, name)| name)
}

/// Normalizes a name to lower case without separators, so that `fileName`, `file-name` and `file_name` are equal.
fn plain(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Computes the Levenshtein distance of two names, in bytes.
fn edits(one: &str, other: &str) -> usize {
    let mut previous: Vec<usize> = (0..=other.len()).collect();
    for (row, a) in one.bytes().enumerate() {
        let mut current = vec![row + 1];
        let mut last = row + 1;
        for (pair, b) in previous.windows(2).zip(other.bytes()) {
            let (diagonal, above) = (pair[0], pair[1]);
            last = (diagonal + usize::from(a != b)).min(above + 1).min(last + 1);
            current.push(last);
        }
        previous = current;
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_the_nearest_known_one() {
        let known = ["files", "web", "memory", "file_name"];
        for (written, expected) in [
            ("fils", Some("files")),
            ("flies", Some("files")),
            ("memroy", Some("memory")),
            ("fileName", Some("file_name")),
            ("wbe", None),
            ("wep", Some("web")),
            ("todo", None),
            ("a-name-of-another-plugin", None),
        ] {
            assert_eq!(nearest(written, known.into_iter()), expected, "{written}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), known.into_iter()), None);
    }

    #[test]
    fn edits_are_counted() {
        for (one, other, expected) in [("a", "a", 0), ("ab", "b", 1), ("kitten", "sitting", 3), ("abc", "xyz", 3)] {
            assert_eq!((edits(one, other), edits(other, one)), (expected, expected), "{one} {other}");
        }
    }
}
