//! `portcullis allow`, `ask` and `deny`.

use super::known::KnownPolicy;
use super::review::{ReviewedEdit, review};
use crate::arguments::{RuleArguments, WhenArgument};
use crate::context::Context;
use crate::exit_code::Exit;
use anyhow::{anyhow, bail};
use portcullis::plugins::Catalog;
use portcullis::policy::{Decision, PluginName, ToolPattern};
use portcullis_policy_edit::{MaskEdit, PolicyEdit, RuleEdit, WhenValue, apply};

/// Adds or replaces a rule, and adds masks.
///
/// # Errors
/// The edit is refused, or the policy cannot be read or replaced.
pub(in crate::commands) async fn run(
    decision: Decision,
    arguments: &RuleArguments,
    context: &Context,
) -> anyhow::Result<Exit> {
    let known = KnownPolicy::read(context).await?;
    let edited = edited(&known, decision, arguments)?;
    review(&known, &edited, arguments.yes, context).await
}

fn edited(known: &KnownPolicy, decision: Decision, arguments: &RuleArguments) -> anyhow::Result<ReviewedEdit> {
    let pattern = ToolPattern::new(&arguments.tool)
        .map_err(|error| anyhow!("{} is not a tool: {error}; {}", arguments.tool, error.remedy()))?;
    if let Some(similar) = known.catalog().and_then(|catalog| similar(catalog, &arguments.tool, &pattern)) {
        bail!("there is no tool {}; did you mean `{similar}`?", arguments.tool);
    }
    let rule = RuleEdit {
        decision,
        tool: arguments.tool.clone(),
        permission: arguments.permission,
        when: when(&arguments.when),
        reason: arguments.reason.clone(),
        // `apply` makes the rule an exception if only ask rules of the user overrule it.
        over_ask: false,
    };
    let tools = known.tools();
    let rule = apply(&known.layers(known.file.text()), &PolicyEdit::Rule(rule), &tools)?;
    let mut edited = ReviewedEdit { text: rule.text, changes: rule.changes, notes: rule.notes };
    if !arguments.hidden.is_empty() || !arguments.read_only.is_empty() {
        let masks = MaskEdit {
            plugin: only_plugin(&pattern)?,
            key: None,
            hidden: arguments.hidden.clone(),
            read_only: arguments.read_only.clone(),
        };
        let masked = apply(&known.layers(&edited.text), &PolicyEdit::Masks(masks), &tools)?;
        // Masks change no decision, so the changes of the rule stay as they are.
        edited.text = masked.text;
    }
    Ok(edited)
}

/// Returns the plugin of a pattern, which masks need.
fn only_plugin(pattern: &ToolPattern) -> anyhow::Result<PluginName> {
    let mut named = pattern.named_plugins();
    let is_pattern = pattern.to_string().split('.').next().is_some_and(|plugin| plugin.contains(['*', '?', '[', '{']));
    match (named.next(), is_pattern) {
        (Some(plugin), false) => Ok(plugin),
        (_, _) => bail!("--hidden and --read-only need the name of one plugin, such as 'files.*'"),
    }
}

/// Groups the values of the same argument.
fn when(written: &[WhenArgument]) -> Vec<(String, Vec<WhenValue>)> {
    let mut entries: Vec<(String, Vec<WhenValue>)> = Vec::new();
    for WhenArgument { argument, value } in written {
        match entries.iter_mut().find(|(name, _)| name == argument) {
            Some((_, values)) => values.push(value.clone()),
            None => entries.push((argument.clone(), vec![value.clone()])),
        }
    }
    entries
}

/// Returns the installed tool that was probably meant by a pattern that matches none. A rule for a plugin that is not
/// installed is fine, because the plugin may be installed later.
fn similar(catalog: &Catalog, written: &str, pattern: &ToolPattern) -> Option<String> {
    if catalog.tools().any(|(_, tool)| pattern.matches(tool.name())) || written.contains(['*', '?', '[', '{']) {
        return None;
    }
    let names: Vec<String> = catalog.tools().map(|(_, tool)| tool.name().to_string()).collect();
    portcullis::text::nearest(written, names.iter().map(String::as_str)).map(str::to_owned)
}
