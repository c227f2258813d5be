//! The line that says that the policy is paused, and how to end the pause.

use portcullis::policy::{Layer, Pause};
use portcullis::text::OneLine;

/// Returns the line about a pause.
pub(crate) fn pause_note(Pause { layer, reason }: &Pause) -> String {
    let remedy = match layer {
        Layer::User => "`portcullis resume` ends the pause".to_owned(),
        Layer::BuiltIn | Layer::Project => format!("to end the pause, remove `paused` from the {layer} policy"),
    };
    format!("Every call is refused, because the policy is paused: {}; {remedy}.", OneLine(reason))
}
