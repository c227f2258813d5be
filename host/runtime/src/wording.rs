//! Rewrites tool names in the host's texts. Notices name `output.read` and `output.grep`, but models can call these
//! tools only by their portable names.

/// The beginning of a notice of the host.
const NOTICE: &str = "[Portcullis: ";

/// The beginning of the line above each result of a batch.
pub(crate) const RESULT: &str = "[Portcullis: result ";

/// The end of that line for a call that completed.
pub(crate) const RESULT_COMPLETED: &str = ": completed.]";

/// The names in notices, and the portable names.
const NAMES: [(&str, &str); 2] = [("output.read", "output__read"), ("output.grep", "output__grep")];

/// Rewrites the names in a text of an answer. Only changes the host's notice at the end, not text of the tool. In a
/// result of a batch, the line above it says whether it is an answer.
pub fn answer(text: &str) -> String {
    match text.split_once('\n').filter(|(line, _)| line.starts_with(RESULT)) {
        Some((line, result)) if line.ends_with(RESULT_COMPLETED) => format!("{line}\n{}", of_answer(result)),
        Some((line, result)) => format!("{line}\n{}", failure(result)),
        None if text.starts_with(RESULT) => text.to_owned(),
        None => of_answer(text),
    }
}

fn of_answer(text: &str) -> String {
    match text.rfind(NOTICE) {
        // The pages of `output.read` and `output.grep` consist of lines, so their notice ends with a line break.
        Some(begin) if text.strip_suffix('\n').unwrap_or(text).ends_with(']') => {
            format!("{}{}", &text[..begin], named(&text[begin..]))
        }
        Some(_) | None => text.to_owned(),
    }
}

/// Rewrites the names in an error message, which may contain text of the tool. Only changes the call that the host
/// proposes.
pub fn failure(text: &str) -> String {
    text.replace(r#"output.read {"reference""#, r#"output__read {"reference""#)
}

fn named(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (full, portable)| text.replace(full, portable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_notice_is_reworded() {
        let text = "a tool says output.read\n[Portcullis: cut. Read on with output.read {}, or output.grep.]";
        let reworded = "a tool says output.read\n[Portcullis: cut. Read on with output__read {}, or output__grep.]";
        assert_eq!(answer(text), reworded);
        let page = "     1\toutput.read\n[Portcullis: there is more. Continue with output.read {}.]\n";
        let reworded_page = "     1\toutput.read\n[Portcullis: there is more. Continue with output__read {}.]\n";
        assert_eq!(answer(page), reworded_page);
        for text in ["output.read", "[Portcullis: output.read] and more", "[Portcullis: output.read]\n\n", "\n", ""] {
            assert_eq!(answer(text), text);
        }
        let result = format!("{RESULT}1 of 1, a__b{RESULT_COMPLETED}");
        for (text, reworded) in [(text, reworded), (page, reworded_page)] {
            assert_eq!(answer(&format!("{result}\n{text}")), format!("{result}\n{reworded}"));
        }
        for text in [format!("{result}\n[output.read]"), result] {
            assert_eq!(answer(&text), text);
        }
        let failed = r#"It said output.read. It is kept: read it with output.read {"reference":"0"}."#;
        assert_eq!(failure(failed), r#"It said output.read. It is kept: read it with output__read {"reference":"0"}."#);
        let result = format!("{RESULT}1 of 1, a__b: failed (tool-failed).]");
        assert_eq!(answer(&format!("{result}\n{failed}")), format!("{result}\n{}", failure(failed)));
    }
}
