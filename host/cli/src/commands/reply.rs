//! Prints the reply to a call.

use super::Context;
use crate::json::{self, DocumentKind};
use crate::policy_lines::{self, HEADING, WithLines};
use crate::short_id::short_id;
use crate::style::TextStyle;
use crate::view;
use portcullis::text::{Lines, OneLine};
use portcullis::{Blob, Code, Host, Outcome, Output, Part, Reply};
use std::io;

pub(super) fn show(host: &Host, reply: &Reply, context: &Context) -> anyhow::Result<()> {
    show_after("", host, reply, context)
}

/// Shows a reply after the beginning of its text was already streamed to the screen. If the policy could allow a denied
/// call, adds the lines that do so.
pub(super) fn show_after(shown: &str, host: &Host, reply: &Reply, context: &Context) -> anyhow::Result<()> {
    let lines = if wants_a_wider_policy(reply) { policy_lines::of_reply(host, reply) } else { None };
    if context.json {
        return Ok(context
            .terminal
            .print(&json::document(DocumentKind::Reply, &WithLines::new(reply, lines.as_deref()))?)?);
    }
    match &reply.output {
        Some(output) => show_output(shown, output, reply, context)?,
        None => {
            if !shown.is_empty() && !shown.ends_with('\n') {
                context.terminal.print("\n")?;
            }
            show_failure(reply, context);
            if let Some(lines) = lines {
                // Lines to copy are not broken.
                context.terminal.note(HEADING);
                context.terminal.say(&format!("\n{lines}\n"));
            }
        }
    }
    Ok(())
}

/// Returns the part of a text that was not shown yet. If the text was cut before the end of what was shown, this is the
/// notice about the cut, on its own line.
fn rest(text: &str, shown: &str) -> String {
    if let Some(rest) = text.strip_prefix(shown) {
        return Lines(rest).to_string();
    }
    let same = text.bytes().zip(shown.bytes()).take_while(|(one, other)| one == other).count();
    // The texts may differ inside a character.
    format!("\n{}", Lines(text[text.floor_char_boundary(same)..].trim_start_matches('\n')))
}

/// Returns whether a wider policy could have let the call run.
pub(super) fn wants_a_wider_policy(reply: &Reply) -> bool {
    matches!(reply.code, Code::PolicyDenied | Code::DependencyNotGranted)
}

fn show_output(shown: &str, output: &Output, reply: &Reply, context: &Context) -> io::Result<()> {
    let mut text = match output {
        Output::Text(text) => rest(text, shown),
        Output::Json(json) => Lines(&json::indent(json)).to_string(),
        Output::Parts(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    };
    // Everything may be on the screen already, with the line break at its end.
    let last = if text.is_empty() { shown } else { &text };
    if !last.ends_with('\n') && !last.is_empty() {
        text.push('\n');
    }
    context.terminal.print(&text)?;
    if context.terminal.has_reader() {
        let title = reply.title.as_deref().map(|title| format!("{} · ", OneLine(title))).unwrap_or_default();
        let line = format!("{title}{}", usage(reply));
        context.terminal.note(context.terminal.note_style().paint(TextStyle::Quiet, line));
    }
    Ok(())
}

fn part(part: &Part) -> String {
    let blob = |kind, blob: &Blob| {
        let bytes = u64::try_from(blob.data.len()).unwrap_or(u64::MAX);
        let name = blob.name.as_deref().map(|name| format!("{}, ", OneLine(name))).unwrap_or_default();
        format!("[{kind}, {name}{}, {}; use --json to get its bytes]", OneLine(&blob.media_type), view::size(bytes))
    };
    match part {
        Part::Text(text) => Lines(text).to_string(),
        Part::Image(image) => blob("image", image),
        Part::File(file) => blob("file", file),
    }
}

fn usage(reply: &Reply) -> String {
    let run = &reply.usage.run;
    let milliseconds = run.wall.as_secs_f64() * 1000.0;
    format!("{milliseconds:.1} ms · {} of memory", view::size(run.memory_bytes))
}

fn show_failure(reply: &Reply, context: &Context) {
    let (terminal, outcome) = (context.terminal, reply.outcome());
    let style = terminal.note_style();
    let look = if outcome == Outcome::Pending { TextStyle::Doubtful } else { TextStyle::Bad };
    let label = style.paint(look, format!("{} ({}):", outcome.as_str(), reply.code));
    terminal.note(format_args!("{label} {}", Lines(&reply.message)));
    if terminal.has_reader() && outcome != Outcome::Invalid {
        let id = short_id(&reply.id);
        terminal.note(style.paint(TextStyle::Quiet, format!("for details: portcullis audit show --call {id}")));
    }
}

#[cfg(test)]
mod tests {
    use super::rest;

    #[test]
    fn nothing_is_shown_twice() {
        assert_eq!(rest("all of it\n", ""), "all of it\n");
        assert_eq!(rest("all of it\n", "all "), "of it\n");
        assert_eq!(rest("all of it\n", "all of it\n"), "");
        // More was shown than the cut text contains.
        assert_eq!(rest("one\n\n[cut]", "one\ntwo"), "\n[cut]");
        assert_eq!(rest("one\n[\u{1b}]", "one\n"), "[\\u{1b}]");
    }
}
