//! The lines that a script writes to `console`.

use crate::notation;

/// Maximum number of messages: a model does not read more.
pub(crate) const MESSAGES_MAX: usize = 1000;

/// Maximum characters of one message: a screen.
pub(crate) const MESSAGE_CHARACTERS_MAX: usize = 4000;

/// Maximum characters of all messages: about 8,000 tokens.
pub(crate) const CONSOLE_CHARACTERS_MAX: usize = 30_000;

/// The messages of a script, in order.
#[derive(Debug, Default)]
pub(crate) struct Console {
    text: String,
    messages: usize,
    characters: usize,
    dropped: usize,
}

impl Console {
    /// Adds a message. Drops it if the console is full.
    pub(crate) fn add(&mut self, message: &str) {
        let characters = message.chars().count().min(MESSAGE_CHARACTERS_MAX);
        if self.messages == MESSAGES_MAX || self.characters + characters > CONSOLE_CHARACTERS_MAX {
            self.dropped += 1;
            return;
        }
        self.messages += 1;
        self.characters += characters;
        self.text.push_str(&notation::shortened(message, MESSAGE_CHARACTERS_MAX));
        self.text.push('\n');
    }

    /// Returns the messages, one a line, and the number of dropped ones in the last line.
    pub(crate) fn text(&self) -> String {
        match self.dropped {
            0 => self.text.clone(),
            dropped => format!("{}[{dropped} more messages were dropped: the console is full]\n", self.text),
        }
    }
}
