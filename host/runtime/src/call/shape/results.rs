//! The results of the calls of a batch, as one answer. Each begins with a line of the host that names the call. Results
//! that do not fit together are cut to an even share, and kept whole.

use super::parts::{describe, replaced};
use super::passed::Passed;
use crate::call::answer::{AnswerText, EndedText, Keeper, TEXT};
use crate::call::outcome::BatchResult;
use crate::outputs::Reference;
use crate::reply::{Outcome, Reply};
use crate::text::OneLine;
use crate::wording::{RESULT, RESULT_COMPLETED};
use portcullis_definitions::manifest::{Output, Part};
use serde_json::{Value, json};

/// What replaces the beginning of a result's line in the text of a tool. So no result can pass for that of another
/// call. It has the same length, because the text is already cut to its share.
const FOREIGN_RESULT: &str = "[Portcullis; result ";
const _: () = assert!(FOREIGN_RESULT.len() == RESULT.len());

/// A part of a result.
struct ResultPart {
    part: Part,
    /// The kept output of which the part is the beginning.
    whole: Option<Reference>,
}

/// Returns the answer of a batch and its metadata, which has the facts about each call for programs.
pub(super) fn pass(keeper: &Keeper, results: Vec<BatchResult>, bytes_max: usize) -> (Passed, Value) {
    let total = results.len();
    let metadata = json!({ "results": results.iter().map(facts).collect::<Vec<Value>>() });
    let lines: Vec<String> = results.iter().enumerate().map(|(place, result)| line(place + 1, total, result)).collect();
    let contents: Vec<Vec<ResultPart>> = results.into_iter().map(|result| content(result.reply)).collect();
    let sizes: Vec<usize> = contents.iter().flatten().map(|one| one.part.bytes()).collect();
    let share = even_share(sizes, bytes_max);
    let (mut parts, mut first) = (Vec::new(), None);
    for (line, content) in lines.into_iter().zip(contents) {
        let at = parts.len();
        for part in content {
            let (part, kept) = shown(keeper, part, share);
            first = first.or(kept);
            parts.push(part);
        }
        match parts.get_mut(at) {
            Some(Part::Text(text)) => *text = format!("{line}\n{text}"),
            Some(Part::Image(_) | Part::File(_)) | None => parts.insert(at, Part::Text(line)),
        }
    }
    (Passed { message: describe(&parts), output: Output::Parts(parts), reference: first }, metadata)
}

/// Returns the bytes of the results before they are cut.
pub(super) fn bytes(results: &[BatchResult]) -> u64 {
    let bytes = |reply: &Reply| reply.output.as_ref().map_or(reply.message.len(), Output::bytes) as u64;
    results.iter().map(|result| bytes(&result.reply)).sum()
}

fn line(place: usize, total: usize, BatchResult { name, reply }: &BatchResult) -> String {
    let name = OneLine(name);
    match reply.outcome() {
        Outcome::Completed => format!("{RESULT}{place} of {total}, {name}{RESULT_COMPLETED}"),
        outcome => format!("{RESULT}{place} of {total}, {name}: {} ({}).]", outcome.as_str(), reply.code),
    }
}

fn facts(BatchResult { name, reply }: &BatchResult) -> Value {
    let mut facts = json!({
        "tool": name,
        "call": reply.id,
        "outcome": reply.outcome().as_str(),
        "code": reply.code.as_str(),
    });
    if let Some(request) = &reply.approval_request {
        facts["approval_request"] = json!(request);
    }
    if let Some(after) = reply.retry_after {
        facts["retry_after_s"] = json!(after.as_secs());
    }
    if let Some(reference) = &reply.reference {
        facts["reference"] = json!(reference.id);
    }
    facts
}

fn content(reply: Reply) -> Vec<ResultPart> {
    let text = |text, whole| vec![ResultPart { part: Part::Text(text), whole }];
    match reply.output {
        Some(Output::Text(shown)) => text(shown, reply.reference),
        Some(Output::Json(json)) => text(json, None),
        Some(Output::Parts(parts)) => parts.into_iter().map(|part| ResultPart { part, whole: None }).collect(),
        None => text(reply.message, None),
    }
}

/// Returns the largest size to which all parts can be cut so that they have at most `bytes_max` bytes together.
fn even_share(mut sizes: Vec<usize>, bytes_max: usize) -> usize {
    // Begin with the shortest part. The bytes that it does not need add to the share of each longer one.
    sizes.sort_unstable();
    let mut left = bytes_max;
    for (place, size) in sizes.iter().enumerate() {
        let share = left / (sizes.len() - place);
        if *size > share {
            return share;
        }
        left -= size;
    }
    usize::MAX
}

/// Returns a part as the answer shows it, and what was kept of it.
fn shown(keeper: &Keeper, ResultPart { part, whole }: ResultPart, share: usize) -> (Part, Option<Reference>) {
    let (text, kept) = match part {
        Part::Text(text) if text.len() <= share => (text, None),
        Part::Text(text) => match whole {
            // The whole text is kept already, and `text` ends with a notice of the host about it.
            Some(whole) => {
                let head = text.rfind("\n[Portcullis: ").map_or(&*text, |end| &text[..end]).to_owned();
                EndedText { head, bytes: whole.bytes, reference: Some(whole), unkept: None }.shown(share)
            }
            None => AnswerText::of(keeper.clone(), share, text).end(TEXT).shown(share),
        },
        Part::Image(_) | Part::File(_) if part.bytes() <= share => return (part, None),
        Part::Image(_) | Part::File(_) => return replaced(keeper, part, 0),
    };
    (Part::Text(text.replace(RESULT, FOREIGN_RESULT)), kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_share_lets_short_parts_whole() {
        for (sizes, bytes_max, share) in [
            (vec![], 0, usize::MAX),
            (vec![3, 4], 7, usize::MAX),
            (vec![10, 3], 7, 4),
            (vec![1, 100, 100, 100], 31, 10),
            (vec![5, 5], 0, 0),
        ] {
            assert_eq!(even_share(sizes.clone(), bytes_max), share, "{sizes:?}");
            let together: usize = sizes.iter().map(|size| size.min(&share)).sum();
            assert!(together <= bytes_max, "{sizes:?}");
        }
    }
}
