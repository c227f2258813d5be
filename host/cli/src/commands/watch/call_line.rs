//! One line about a live call. Encodes every text.

use crate::style::{Style, TextStyle};
use portcullis::live::{LiveCall, LiveState};
use portcullis::text::OneLine;
use std::time::Duration;

/// Formats a call as one line of at most this many columns.
pub(super) fn call_line(call: &LiveCall, now_ms: i64, style: Style, width: usize) -> String {
    let state = match (&call.end, call.state) {
        (Some(end), _) if end.code == end.outcome => end.outcome.clone(),
        (Some(end), _) => format!("{} ({})", end.outcome, end.code),
        (None, state) => state.as_str().to_owned(),
    };
    let milliseconds = match &call.end {
        Some(end) => end.milliseconds,
        // The clock may have been set back meanwhile.
        None => u64::try_from(now_ms.saturating_sub(call.started.as_millisecond())).unwrap_or(0),
    };
    let targets: Vec<&str> = call.targets.iter().map(|(_, text)| text).collect();
    let who = call.agent.as_deref().unwrap_or(&call.principal);
    let progress = progress(call).map(|progress| format!("  {progress}")).unwrap_or_default();
    let line =
        format!("{:<10} {:>6}  {}  {}  {who}{progress}", state, time(milliseconds), call.tool, targets.join(", "));
    let look = match (&call.end, call.state) {
        (Some(end), _) if end.outcome == "completed" => TextStyle::Quiet,
        (Some(_), _) => TextStyle::Bad,
        (None, LiveState::Running) => TextStyle::Good,
        (None, LiveState::Pending | LiveState::Waiting | LiveState::Ended) => TextStyle::Plain,
    };
    style.paint(look, fitted(&line, width)).to_string()
}

/// Formats the progress: numbers of the host's form first, then the tool's words.
fn progress(call: &LiveCall) -> Option<String> {
    let progress = call.progress.as_ref().filter(|_| call.end.is_none())?;
    let counted = match (progress.done, progress.total) {
        (Some(done), Some(total)) => Some(format!("{done}/{total}")),
        _ => progress.fraction.map(|fraction| format!("{:.0} %", fraction * 100.0)),
    };
    let text = progress.text.as_deref().map(|text| format!("the tool says: {text}"));
    let parts: Vec<String> = counted.into_iter().chain(text).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Formats a time in at most six columns.
fn time(milliseconds: u64) -> String {
    let seconds = Duration::from_millis(milliseconds).as_secs();
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..60 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Encodes a text and cuts it to these columns. Counts a character that may be wide as two columns.
pub(super) fn fitted(text: &str, width: usize) -> String {
    let text = OneLine(text).to_string();
    let mut used = 0;
    let fits = text.char_indices().find(|(_, character)| {
        used += if character.is_ascii() { 1 } else { 2 };
        used > width
    });
    match fits {
        None => text,
        Some(_) => {
            let mut used = 0;
            let kept = text.chars().take_while(|character| {
                used += if character.is_ascii() { 1 } else { 2 };
                used < width
            });
            kept.chain(['…']).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> LiveCall {
        serde_json::from_value(serde_json::json!({
            "host": { "id": "h", "pid": 1 }, "call": "c", "session": text, "principal": "local", "agent": text,
            "tool": text, "targets": { "/path": text }, "state": "running", "started": 0,
            "progress": { "done": 3, "total": 7, "text": text },
        }))
        .unwrap()
    }

    #[test]
    fn a_line_fits_and_no_text_escapes() {
        for text in ["\u{1b}[2J\n\u{202e}", "日本語".repeat(100).as_str(), "plain"] {
            for width in [40, 60, 80, 200] {
                let line = call_line(&call(text), 1500, Style::Plain, width);
                let columns: usize = line.chars().map(|it| if it.is_ascii() || it == '…' { 1 } else { 2 }).sum();
                assert!(columns <= width, "{line}");
                assert!(!line.contains(['\u{1b}', '\n', '\u{202e}']), "{line:?}");
            }
        }
        let line = call_line(&call("a"), 1500, Style::Plain, 80);
        assert_eq!(line, "running     1.5 s  a  a  a  3/7 the tool says: a");
    }

    #[test]
    fn times_are_short() {
        let rows = [(5, "5 ms"), (1_500, "1.5 s"), (61_000, "1m01s"), (3_661_000, "1h01m")];
        for (milliseconds, shown) in rows {
            assert_eq!(time(milliseconds), shown);
        }
    }
}
