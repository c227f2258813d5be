//! Finds lines in a file.

/// Returns where a sequence occurs in another one, including overlapping occurrences. Returns at most `max` places.
///
/// Uses the algorithm of Knuth, Morris and Pratt: a hostile text would make a plain search quadratic.
pub(crate) fn occurrences<T: PartialEq>(lines: &[T], wanted: &[T], max: usize) -> Vec<usize> {
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    // The length of the longest proper prefix of `wanted` that is also a suffix of its first lines.
    let mut borders = vec![0; wanted.len()];
    let mut matched = 0;
    for index in 1..wanted.len() {
        while matched > 0 && wanted[index] != wanted[matched] {
            matched = borders[matched - 1];
        }
        matched += usize::from(wanted[index] == wanted[matched]);
        borders[index] = matched;
    }
    matched = 0;
    for (index, line) in lines.iter().enumerate() {
        while matched > 0 && (matched == wanted.len() || *line != wanted[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(*line == wanted[matched]);
        if matched == wanted.len() {
            found.push(index + 1 - wanted.len());
            if found.len() == max {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds occurrences as the definition says.
    fn plainly(lines: &[&str], wanted: &[&str]) -> Vec<usize> {
        (0..lines.len()).filter(|start| lines[*start..].starts_with(wanted)).collect()
    }

    #[test]
    fn occurrences_are_those_of_a_plain_search() {
        let words = ["a", "b"];
        for bits in 0..1_u32 << 10 {
            let lines: Vec<&str> = (0..10).map(|bit| words[usize::from(bits >> bit & 1 == 1)]).collect();
            for length in 1..=4 {
                for pattern in 0..1_u32 << length {
                    let wanted: Vec<&str> =
                        (0..length).map(|bit| words[usize::from(pattern >> bit & 1 == 1)]).collect();
                    assert_eq!(
                        occurrences(&lines, &wanted, usize::MAX),
                        plainly(&lines, &wanted),
                        "{lines:?} {wanted:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_hostile_search_is_not_quadratic() {
        let lines = vec!["x"; 200_000];
        let mut wanted = vec!["x"; 100_000];
        wanted.push("y");
        let start = std::time::Instant::now();
        assert_eq!(occurrences(&lines, &wanted, usize::MAX), [0; 0]);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
