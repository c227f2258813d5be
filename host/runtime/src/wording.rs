//! The host's words as clients and models know its tools: the notices of the host name `output.read` and
//! `output.grep`, and a model can call them only by their portable names.

/// What a notice of the host begins with.
const NOTICE: &str = "[Portcullis: ";

/// The names in notices, and those that clients know.
const NAMES: [(&str, &str); 2] = [("output.read", "output__read"), ("output.grep", "output__grep")];

/// A text of an answer. Only the host's notice at its end is reworded: what a tool wrote before stays as it is.
pub fn answer(text: &str) -> String {
    match text.rfind(NOTICE) {
        Some(begin) if text.ends_with(']') => format!("{}{}", &text[..begin], named(&text[begin..])),
        Some(_) | None => text.to_owned(),
    }
}

/// A message of the host about a call without an answer, which may hold words of the tool: only the call that the host
/// proposes is reworded.
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
        for text in ["output.read", "[Portcullis: output.read] and more", ""] {
            assert_eq!(answer(text), text);
        }
        let failed = r#"It said output.read. It is kept: read it with output.read {"reference":"0"}."#;
        assert_eq!(failure(failed), r#"It said output.read. It is kept: read it with output__read {"reference":"0"}."#);
    }
}
