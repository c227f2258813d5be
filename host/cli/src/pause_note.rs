//! The line that says that the policy is paused, and how to end the pause.

use crate::context::Context;
use crate::environment::{PolicyPlaces, open_named};
use portcullis::policy::{Layer, Layers, POLICY_BYTES, Pause, Policy, Trust};
use portcullis::text::OneLine;
use std::io::Read;
use std::path::Path;

/// Returns the line about a pause.
pub(crate) fn pause_note(Pause { layer, reason }: &Pause) -> String {
    let remedy = match layer {
        Layer::User => "`portcullis resume` ends the pause".to_owned(),
        Layer::BuiltIn | Layer::Project => format!("to end the pause, remove `paused` from the {layer} policy"),
    };
    format!("Every call is refused, because the policy is paused: {}; {remedy}.", OneLine(reason))
}

/// Returns the pause of the policy files, without opening a host. A policy that cannot be read has none.
pub(crate) fn pause_of_files(context: &Context) -> Option<Pause> {
    let (user, project) = match &context.environment.policy {
        PolicyPlaces::Named(path) => (text_of(path), None),
        PolicyPlaces::Usual { user, project } => (user.as_ref().and_then(|user| text_of(&user.path)), text_of(project)),
    };
    let project = project.as_deref().map(|text| (text, Trust::Untrusted));
    let policy = Policy::layered(&Layers { built_in: None, user: user.as_deref(), project }).ok()?;
    policy.paused().cloned()
}

fn text_of(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_named(path).ok()?.take(POLICY_BYTES as u64).read_to_string(&mut text).ok()?;
    Some(text)
}
