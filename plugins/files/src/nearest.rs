//! Finds the part of a file that is most similar to a text that does not occur in it. The cost is bounded: a wrong
//! guess of a model must not cost more than the edit itself.

use crate::endings::to_lf;
use crate::likeness::Likeness;
use crate::sequence::occurrences;
use crate::text;

/// Maximum number of lines of the file to compare.
const LINES_COMPARED_MAX: usize = 10_000;

/// Maximum number of lines of the wanted text to compare with each of them.
const WANTED_LINES_MAX: usize = 40;

/// Maximum number of characters to show of a line.
const LINE_CHARACTERS_MAX: usize = 200;

/// Maximum number of lines of the file to show.
const SHOWN_LINES_MAX: usize = 12;

/// Minimum likeness, from 0 to 100. Below this, two lines have little in common.
const LIKENESS_MIN: usize = 40;

/// Describes a text that does not occur, and the most similar lines. `missing` says which text, such as `old does not
/// occur`.
pub(crate) fn describe(missing: &str, text: &str, wanted: &str) -> String {
    let (text, wanted) = (to_lf(text), to_lf(wanted));
    let lines: Vec<&str> = text.lines().take(LINES_COMPARED_MAX).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    // Models copy lines from the answer of `read` together with their numbers.
    if wanted.iter().all(|line| has_line_number(line)) {
        return format!("{missing}; leave out the line numbers and tabs that `read` puts before each line");
    }
    if let Some(start) = equal_but_white_space(&lines, &wanted) {
        let nearest = numbered(&lines, start, wanted.len());
        return format!("{missing}; these lines differ from it in white space only:\n{nearest}");
    }
    match most_alike(&lines, &wanted) {
        Some(start) => format!("{missing}; the nearest text is:\n{}", numbered(&lines, start, wanted.len())),
        None => format!("{missing}, and nothing in the file is similar; `read` the file again"),
    }
}

fn has_line_number(line: &str) -> bool {
    let digits = line.trim_start().trim_start_matches(|character: char| character.is_ascii_digit());
    digits.len() < line.trim_start().len() && digits.starts_with('\t')
}

fn equal_but_white_space(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let wanted: Vec<String> = wanted.iter().map(|line| squeeze(line)).collect();
    if wanted.iter().all(String::is_empty) {
        return None;
    }
    let lines: Vec<String> = lines.iter().map(|line| squeeze(line)).collect();
    occurrences(&lines, &wanted, 1).first().copied()
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the start of the lines that are most similar to the wanted ones. Compares only the longest wanted line.
fn most_alike(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let considered = wanted.iter().take(WANTED_LINES_MAX).enumerate();
    let (offset, anchor) = considered.max_by_key(|(_, line)| line.trim().len().min(LINE_CHARACTERS_MAX))?;
    let anchor = Likeness::to(anchor);
    let scored = lines.iter().enumerate().map(|(index, line)| (anchor.of(line), index));
    let (score, index) = scored.max_by_key(|(score, index)| (*score, std::cmp::Reverse(*index)))?;
    (score >= LIKENESS_MIN).then(|| index.saturating_sub(offset))
}

fn numbered(lines: &[&str], start: usize, length: usize) -> String {
    let shown = lines.iter().enumerate().skip(start).take(length.clamp(1, SHOWN_LINES_MAX));
    let shown = shown.map(|(index, line)| format!("{:>6}\t{}", index + 1, text::cut(line, LINE_CHARACTERS_MAX).0));
    shown.collect::<Vec<_>>().join("\n")
}
