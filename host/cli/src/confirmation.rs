//! Asks the user to confirm a command.

use crate::terminal::Terminal;
use crate::tty::Tty;

/// The answer to a prompt that takes yes, no or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// `y` or `yes`.
    Yes,
    /// The user wants to see more first.
    More,
    /// Anything else, or there is no terminal.
    No,
}

/// Asks at the terminal and returns whether the answer is `y` or `yes`. Without a terminal, returns false.
pub(crate) async fn confirmed(terminal: Terminal, what: &str) -> bool {
    confirmation(terminal, &format!("{what} [y/N] ")).await == Confirmation::Yes
}

/// Asks at the terminal with this prompt.
pub(crate) async fn confirmation(terminal: Terminal, prompt: &str) -> Confirmation {
    let Ok(tty) = Tty::open() else { return Confirmation::No };
    // What was typed before the prompt cannot be an answer to it.
    if tty.forget_typed().is_err() {
        return Confirmation::No;
    }
    terminal.say(prompt);
    let line = tty.line().await.unwrap_or(None);
    if !line.as_deref().is_some_and(|line| line.ends_with('\n')) {
        terminal.say("\n");
    }
    match line.unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Confirmation::Yes,
        "?" | "more" => Confirmation::More,
        _ => Confirmation::No,
    }
}
