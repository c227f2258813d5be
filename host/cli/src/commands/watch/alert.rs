//! Draws a person's attention to a new request: the bell, the notification sequences of terminals, and the desktop.

use crate::environment;
use portcullis::approvals::OpenQuestion;
use portcullis::text::OneLine;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// Maximum length of the text of a notification, in characters. Desktops cut longer ones.
const TEXT_CHARACTERS_MAX: usize = 120;

/// How long the program that shows a notification may take.
const SHOW_TIME_MAX: Duration = Duration::from_secs(5);

/// Returns one line about a request, encoded and cut.
pub(super) fn text(request: &OpenQuestion) -> String {
    let question = request.question.as_ref();
    // In words that the caller cannot choose, because the notification is a sentence of the host.
    let who = question.map_or_else(|| request.principal.clone(), |question| question.who());
    let target = question.and_then(|question| question.targets.iter().next().map(|(_, text)| format!(" on {text}")));
    let line = format!("{who} asks for {}{}", request.tool, target.unwrap_or_default());
    OneLine(&line).to_string().chars().take(TEXT_CHARACTERS_MAX).collect()
}

/// Returns what a terminal rings and shows: BEL, OSC 9 (iTerm2, Windows Terminal, ghostty) and OSC 777 (urxvt, foot).
/// The text has no control characters, and none that separates the parts of a sequence.
pub(super) fn terminal_sequence(text: &str) -> String {
    let plain: String = text.chars().map(|it| if it == ';' { ',' } else { it }).collect();
    format!("\x07\x1b]9;portcullis: {plain}\x07\x1b]777;notify;portcullis;{plain}\x07")
}

/// Shows a notification on the desktop, if there is one. The D-Bus libraries are large, so this runs the program that
/// desktops bring. It gets the text as an argument, and no shell reads it.
pub(super) fn on_desktop(text: &str) {
    let Some(mut command) = environment::desktop_notifier() else { return };
    // The body may be markup, so its special characters are spelled out.
    let body = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    command.args(["--app-name=portcullis", "--", "Portcullis: a call needs your approval", &body]);
    tokio::spawn(show(command));
}

async fn show(mut command: Command) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    if let Ok(mut child) = command.spawn() {
        // A program that takes longer is killed when `child` is dropped.
        let _ = timeout(SHOW_TIME_MAX, child.wait()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_sequence_or_begin_another() {
        let text = OneLine("a\u{7}\u{1b}]0;x\u{9c};b").to_string();
        let sequence = terminal_sequence(&text);
        assert_eq!(sequence.matches('\u{1b}').count(), 2, "{sequence:?}");
        assert_eq!(sequence.matches('\u{7}').count(), 3, "{sequence:?}");
        assert_eq!(sequence.matches(';').count(), 4, "{sequence:?}");
    }
}
