//! The second screen of a terminal, which leaves the first one as it was.

use crate::terminal::Terminal;
use std::io;

/// Switches to the second screen and hides the cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";

/// Shows the cursor, and switches back.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// The second screen. Dropping it switches back to the first one, also when the program fails.
pub(super) struct SecondScreen(Terminal);

impl SecondScreen {
    pub(super) fn enter(terminal: Terminal) -> io::Result<Self> {
        // Before the sequence is written, so that a failed write also switches back.
        let screen = Self(terminal);
        terminal.print(ENTER)?;
        Ok(screen)
    }

    /// Replaces what is on the screen.
    pub(super) fn draw(&self, rows: &[String]) -> io::Result<()> {
        // Each row is overwritten and its rest erased. Clearing the screen first would flicker.
        let rows: Vec<String> = rows.iter().map(|row| format!("{row}\x1b[K")).collect();
        self.0.print(&format!("\x1b[H{}\x1b[J", rows.join("\r\n")))
    }

    /// Shows a prompt in the last row, with the cursor behind it.
    pub(super) fn prompt(&self, row: usize, text: &str) -> io::Result<()> {
        self.0.print(&format!("\x1b[{row};1H\x1b[K{text}\x1b[?25h"))
    }

    pub(super) fn hide_cursor(&self) -> io::Result<()> {
        self.0.print("\x1b[?25l")
    }
}

impl Drop for SecondScreen {
    fn drop(&mut self) {
        let _ = self.0.print(LEAVE);
    }
}
