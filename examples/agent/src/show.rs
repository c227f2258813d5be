//! Shows the calls of the model and their results, in a line or two for each.

use crate::screen;
use portcullis::events::{CallState, EventKind, Events};
use portcullis::text::OneLine;
use portcullis::{Outcome, Reply};
use portcullis_providers::Hydrated;
use std::convert::Infallible;
use std::future::pending;

/// Maximum bytes to show of arguments, a message or an answer. The audit log has all of it.
const SHOWN_BYTES_MAX: usize = 300;

/// Maximum bytes to show of a tool's name. A longer one is not a valid name.
const NAME_BYTES_MAX: usize = 130;

/// Shows the calls that the model asks for.
pub(crate) fn calls(hydrated: &Hydrated) {
    for call in &hydrated.calls {
        screen::note(format_args!("> {}", name(&call.tool)));
        screen::quote(beginning(&call.provenance.raw, SHOWN_BYTES_MAX));
    }
}

/// Shows which calls start to run. Never returns; drop it when the calls have ended.
pub(crate) async fn running(mut events: Events) -> Infallible {
    while let Some(event) = events.next().await {
        if matches!(event.kind, EventKind::State(CallState::Running)) {
            screen::note(format_args!("  runs: {}", name(&event.tool)));
        }
    }
    pending().await
}

/// Shows how the calls ended.
pub(crate) fn replies(replies: &[Reply]) {
    for reply in replies {
        screen::note(format_args!("< {}: {}", name(&reply.tool), reply.code));
        if reply.outcome() != Outcome::Completed {
            screen::quote(beginning(&reply.message, SHOWN_BYTES_MAX));
        }
    }
}

/// Returns the name of a tool as the model gave it, which may be any text.
fn name(tool: &str) -> OneLine<'_> {
    OneLine(beginning(tool, NAME_BYTES_MAX))
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
