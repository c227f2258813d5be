//! Shows help, the version, and errors of the command line.

use super::{FailureCode, report};
use crate::exit_code::Exit;
use crate::terminal::Terminal;
use crate::wrap::wrapped;
use portcullis::text::Lines;
use std::process::ExitCode;

/// Shows what the parser has to say. Encodes the text, because it may quote the arguments.
pub(crate) fn show_usage(error: &clap::Error, terminal: Terminal, as_json: bool) -> ExitCode {
    let text = Lines(&error.render().to_string()).to_string();
    if !error.use_stderr() {
        // A write error cannot be reported on any other stream.
        drop(terminal.show_help(&text));
        return Exit::Completed.into();
    }
    if as_json {
        let (message, help) = parts(&text);
        drop(report(terminal, true, FailureCode::Usage, message, help));
    } else {
        terminal.say(&wrapped(&text, terminal.note_width()));
    }
    Exit::Usage.into()
}

/// Splits a rendered error into its message, and what follows: tips and the usage.
fn parts(text: &str) -> (&str, Option<&str>) {
    let Some(error) = text.strip_prefix("error: ") else {
        // Without any argument the parser shows the help instead.
        return ("a command is required", Some(text.trim_end()));
    };
    let (message, help) = error.split_once("\n\n").unwrap_or((error, ""));
    (message.trim_end(), Some(help.trim_end()).filter(|help| !help.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_before_the_tips_and_the_usage() {
        let text = "error: unexpected argument '--jsn' found\n\n  tip: use '--json'\n\nUsage: portcullis list\n";
        assert_eq!(
            parts(text),
            ("unexpected argument '--jsn' found", Some("  tip: use '--json'\n\nUsage: portcullis list"))
        );
        assert_eq!(parts("error: none\n"), ("none", None));
        assert_eq!(parts("Usage: portcullis\n"), ("a command is required", Some("Usage: portcullis")));
    }
}
