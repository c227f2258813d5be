//! Applies an edit, and checks its result.

use portcullis_policy::{DeadRule, Decision, KnownTool, Layer, LayerError, Layers, Policy};

use crate::changes::{ArgumentSample, DecisionChange, decision_changes};
use crate::edit::{PolicyEdit, RuleEdit};
use crate::error::EditError;
use crate::meaning::PolicyMeaning;
use crate::overruled;
use crate::sample;
use crate::written::WrittenEdit;
use crate::{grant, mask, pause, rule, server};

/// An edited policy.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EditedPolicy {
    /// The new text of the user's policy. If the policy already said this, it is the old text.
    pub text: String,
    /// The decisions on the known tools that change.
    pub changes: Vec<DecisionChange>,
    /// What the edit does not reach, such as a call that a stricter rule still decides. One sentence each.
    pub notes: Vec<String>,
}

/// Edits the text of the user's policy. The other layers and the known tools are only read: they decide what the edit
/// changes, and whether it has an effect.
///
/// # Errors
/// The policy has an error, or the edit would make it invalid, change anything else, or have no effect.
pub fn apply(layers: &Layers<'_>, edit: &PolicyEdit, tools: &[KnownTool<'_>]) -> Result<EditedPolicy, EditError> {
    let text = layers.user.unwrap_or_default();
    let before = Policy::layered(layers).map_err(EditError::Invalid)?;
    // All layers together decide about calls. An edit changes only the user's text, so its meaning is compared alone.
    let old = Policy::parse(text).map_err(|error| EditError::Invalid(LayerError { layer: Layer::User, error }))?;
    let (written, notes) = match edit {
        PolicyEdit::Rule(edit) => apply_rule(layers, (&old, &before), edit, tools)?,
        PolicyEdit::Grant(edit) => (apply_first(grant::write(text, &old, edit)?)?, Vec::new()),
        PolicyEdit::Masks(edit) => (mask::write(text, &old, edit)?, Vec::new()),
        PolicyEdit::AddServer(edit) => (server::add(text, &old, edit)?, Vec::new()),
        PolicyEdit::RemoveServer { name } => (server::remove(text, &old, name)?, Vec::new()),
        PolicyEdit::SetPackage { name, spec } => (server::set_package(text, &old, name, spec)?, Vec::new()),
        PolicyEdit::Pause { reason } => (pause::pause(text, &old, reason), Vec::new()),
        PolicyEdit::Resume => match (old.paused(), before.paused()) {
            // The edit changes only the user's text, so it cannot end the pause of another layer.
            (None, Some(pause)) => return Err(EditError::PausedElsewhere { layer: pause.layer }),
            (None, None) => return Err(EditError::NotPaused),
            (Some(_), _) => (pause::resume(text, &old)?, Vec::new()),
        },
    };
    let after = checked(layers, &written)?;
    if let Some(dead) = new_dead_rule(&before, &after, tools) {
        return Err(EditError::Dead(Box::new(dead)));
    }
    let changes = changes(layers, (&before, &after), &written, tools);
    Ok(EditedPolicy { text: written.text, changes, notes })
}

fn apply_rule(
    layers: &Layers<'_>,
    (old, before): (&Policy, &Policy),
    edit: &RuleEdit,
    tools: &[KnownTool<'_>],
) -> Result<(WrittenEdit, Vec<String>), EditError> {
    let text = layers.user.unwrap_or_default();
    let written = rule::write(text, old, edit)?;
    let after = checked(layers, &written)?;
    let reached = overruled::look(&after, edit, tools);
    let Some(winners) = reached.overruled else { return Ok((written, reached.notes)) };
    let refused = overruled::error(&after, edit.decision, &winners);
    if edit.decision != Decision::Allow || edit.over_ask || !overruled::are_asks_of_the_user(before, &winners) {
        return Err(refused);
    }
    // Only the second attempt has `over`, so that a rule overrules no ask rule without need.
    let over = RuleEdit { over_ask: true, ..edit.clone() };
    let written = rule::write(text, old, &over)?;
    let reached = overruled::look(&checked(layers, &written)?, &over, tools);
    match reached.overruled {
        // Report what wins over the rule as the user wrote it, without `over`.
        Some(_) => Err(refused),
        None => Ok((written, reached.notes.into_iter().chain([overruled::exception(&winners)]).collect())),
    }
}

/// Returns the first rule that the edit left without a call to match.
fn new_dead_rule(before: &Policy, after: &Policy, tools: &[KnownTool<'_>]) -> Option<DeadRule> {
    // No edit removes a rule or adds one before another, so a rule keeps its number. Its line may move.
    let is_same = |one: &DeadRule, other: &DeadRule| {
        (one.id.layer, one.id.number, &one.why) == (other.id.layer, other.id.number, &other.why)
    };
    let old: Vec<DeadRule> = before.dead_rules(tools).collect();
    after.dead_rules(tools).find(|dead| !old.iter().any(|old| is_same(old, dead)))
}

/// Returns the first of several texts that means what it must.
fn apply_first(candidates: Vec<WrittenEdit>) -> Result<WrittenEdit, EditError> {
    let mut first = None;
    for written in candidates {
        match meaning(&written) {
            Ok(_) => return Ok(written),
            // The best form is the first, so report its error.
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or(EditError::ChangesMore { what: "the form of the text", lines: String::new() }))
}

/// Returns the combined policy after an edit that means what it must.
fn checked(layers: &Layers<'_>, written: &WrittenEdit) -> Result<Policy, EditError> {
    meaning(written)?;
    let layers = Layers { user: Some(&written.text), ..*layers };
    Policy::layered(&layers).map_err(|refused| EditError::Refused(Box::new(refused.error)))
}

/// Checks that a text parses and means what it must.
fn meaning(WrittenEdit { text, expected, lines }: &WrittenEdit) -> Result<(), EditError> {
    let policy = Policy::parse(text).map_err(|error| EditError::Refused(Box::new(error)))?;
    match PolicyMeaning::of(&policy).difference(expected) {
        Some(what) => Err(EditError::ChangesMore { what, lines: lines.clone() }),
        None => Ok(()),
    }
}

/// Returns the decisions that change, for a call without arguments and for the arguments that any rule names. Omits
/// arguments for which the same changes as without them.
fn changes(
    layers: &Layers<'_>,
    (before, after): (&Policy, &Policy),
    written: &WrittenEdit,
    tools: &[KnownTool<'_>],
) -> Vec<DecisionChange> {
    let mut samples = vec![ArgumentSample::plain()];
    // The edit itself comes first, and then the new text, so that the limit drops their samples last.
    let texts = [Some(&*written.lines), Some(&written.text), layers.user, layers.project.map(|(text, _)| text)];
    for sample in texts.into_iter().flatten().flat_map(sample::of_text) {
        if samples.len() < sample::SAMPLES_MAX && !samples.contains(&sample) {
            samples.push(sample);
        }
    }
    let mut changes = decision_changes(before, after, tools, &samples);
    let plain: Vec<DecisionChange> = changes.iter().filter(|change| change.when.is_none()).cloned().collect();
    changes.retain(|change| {
        let is_same = |plain: &DecisionChange| {
            (&plain.tool, plain.before, plain.after) == (&change.tool, change.before, change.after)
        };
        change.when.is_none() || !plain.iter().any(is_same)
    });
    changes
}
