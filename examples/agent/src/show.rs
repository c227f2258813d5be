//! What the model calls and what becomes of it, a line or two for each.

use crate::screen;
use portcullis::events::{CallState, EventKind, Events};
use portcullis::text::OneLine;
use portcullis::{Outcome, Reply};
use portcullis_providers::Hydrated;
use std::convert::Infallible;
use std::future::pending;

/// How much of arguments, a message or an answer is shown, in bytes. The record has all of it.
const SHOWN_BYTES_MAX: usize = 300;

/// The longest name of a tool that is shown, in bytes: what is longer is none.
const NAME_BYTES_MAX: usize = 130;

/// Shows what is asked for.
pub(crate) fn calls(hydrated: &Hydrated) {
    for call in &hydrated.calls {
        screen::note(format_args!("> {}", name(&call.tool)));
        screen::quote(beginning(&call.provenance.raw, SHOWN_BYTES_MAX));
    }
}

/// Shows which calls begin to run, as long as anybody waits for them.
pub(crate) async fn running(mut events: Events) -> Infallible {
    while let Some(event) = events.next().await {
        if matches!(event.kind, EventKind::State(CallState::Running)) {
            screen::note(format_args!("  runs: {}", name(&event.tool)));
        }
    }
    pending().await
}

/// Shows how it ended.
pub(crate) fn replies(replies: &[Reply]) {
    for reply in replies {
        screen::note(format_args!("< {}: {}", name(&reply.tool), reply.code));
        if reply.outcome() != Outcome::Completed {
            screen::quote(beginning(&reply.message, SHOWN_BYTES_MAX));
        }
    }
}

/// A tool as the model named it, which may be any text.
fn name(tool: &str) -> OneLine<'_> {
    OneLine(beginning(tool, NAME_BYTES_MAX))
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
