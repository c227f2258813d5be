//! Whether a person is sure, before something is done that they asked for.

use crate::terminal::Terminal;
use crate::tty::Tty;

/// Asks at the terminal; only a plain yes is one. Without somebody to ask, nobody is sure.
pub(crate) async fn confirmed(terminal: Terminal, what: &str) -> bool {
    let Ok(tty) = Tty::open() else { return false };
    if tty.forget_typed().is_err() {
        return false;
    }
    terminal.say(&format!("{what} [y/N] "));
    let line = tty.line().await.unwrap_or(None);
    if !line.as_deref().is_some_and(|line| line.ends_with('\n')) {
        terminal.say("\n");
    }
    matches!(line.unwrap_or_default().trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
