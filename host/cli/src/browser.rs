//! Opens a link in the user's browser.

use std::process::{Command, Stdio};

/// Programs that open a link, in the order in which they are tried.
const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// Opens a link with the first program that starts. Returns whether one did.
#[expect(clippy::disallowed_methods, reason = "the user asked for their browser")]
pub(crate) fn open(link: &str) -> bool {
    OPENERS.iter().any(|opener| {
        let mut command = Command::new(opener);
        command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // No one waits for its end: an opener may run as long as the browser.
        command.spawn().is_ok()
    })
}
