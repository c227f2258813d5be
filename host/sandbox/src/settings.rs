//! `wasi:config/store` and `wasi:logging/logging`: settings for the guest, and log lines for the audit log.

use crate::state::StoreState;
use crate::wasi::config::store as config;
use crate::wasi::logging::logging;
use std::fmt::Write;

/// Maximum length of a message's context, in bytes. A context is a word to group messages by.
const CONTEXT_BYTES_MAX: usize = 256;

/// Maximum length of a message, in bytes: as much as a guest may print at once.
const MESSAGE_BYTES_MAX: usize = 4096;

impl config::Host for StoreState {
    fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, config::Error>> {
        Ok(Ok(self.handles.surroundings.config.get(&key).cloned()))
    }

    fn get_all(&mut self) -> wasmtime::Result<Result<Vec<(String, String)>, config::Error>> {
        let pairs = self.handles.surroundings.config.iter().map(|(key, value)| (key.clone(), value.clone()));
        Ok(Ok(pairs.collect()))
    }
}

impl logging::Host for StoreState {
    fn log(&mut self, level: logging::Level, context: String, message: String) -> wasmtime::Result<()> {
        let level = match level {
            logging::Level::Trace => "trace",
            logging::Level::Debug => "debug",
            logging::Level::Info => "info",
            logging::Level::Warn => "warn",
            logging::Level::Error => "error",
            logging::Level::Critical => "critical",
        };
        self.sink.append_line(&line(level, &context, &message));
        Ok(())
    }
}

/// Formats a message as one line, whatever it contains.
fn line(level: &str, context: &str, message: &str) -> String {
    let mut line = format!("[{level}] ");
    escape(&mut line, context, CONTEXT_BYTES_MAX);
    line.push_str(": ");
    escape(&mut line, message, MESSAGE_BYTES_MAX);
    line.push('\n');
    line
}

/// Appends text, and escapes characters that begin a new line or move the cursor. Says how many bytes were cut. Code
/// that shows the audit log to people escapes more.
fn escape(line: &mut String, text: &str, bytes_max: usize) {
    let kept = text.floor_char_boundary(bytes_max);
    for character in text[..kept].chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    if kept < text.len() {
        // Writing to a string cannot fail.
        let _ = write!(line, " [and {} bytes more]", text.len() - kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_whatever_is_in_it() {
        let forged = line("info", "a\nb", "x\r\n[critical] host: y\u{85}\u{2028}\u{2029}\x1b[2J\0\t");
        assert_eq!(forged, "[info] a\\nb: x\\r\\n[critical] host: y\\u{85}\\u{2028}\\u{2029}\\u{1b}[2J\\u{0}\\t\n");
    }

    #[test]
    fn a_long_message_is_truncated_at_a_character_and_says_so() {
        let long = "ä".repeat(MESSAGE_BYTES_MAX);
        let line = line("info", &long, &format!("x{long}"));
        let context = format!(
            "{} [and {} bytes more]",
            "ä".repeat(CONTEXT_BYTES_MAX / 2),
            2 * MESSAGE_BYTES_MAX - CONTEXT_BYTES_MAX
        );
        let message = format!("x{} [and {} bytes more]", "ä".repeat(MESSAGE_BYTES_MAX / 2 - 1), MESSAGE_BYTES_MAX + 2);
        assert_eq!(line, format!("[info] {context}: {message}\n"));
    }
}
