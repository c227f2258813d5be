//! Writes what the plan says. Each change is recorded before it is made, so that `--undo` finds it even after a crash.

use super::places::InitPlaces;
use super::plan::{ClientChange, InitPlan};
use crate::clients::{ConfigFile, ConfigScope};
use crate::init_record::{ClientRecord, FileChange, InitRecord};
use crate::user_files::{self, PRIVATE, SHARED};
use anyhow::Context as _;

/// Writes the plugins, the policy and the configurations.
///
/// # Errors
/// A file cannot be written. What was written before stays, and is recorded.
pub(super) fn run(plan: &InitPlan, places: &InitPlaces, record: &mut InitRecord) -> anyhow::Result<()> {
    for plugin in &plan.plugins.missing {
        let context = || format!("cannot install the plugin {}", plugin.target.display());
        record.plugins.insert(plugin.target.clone(), user_files::sha256(&plugin.bytes));
        record.write(&places.config)?;
        user_files::create_parents(&plugin.target, PRIVATE).with_context(context)?;
        user_files::replace(&plugin.target, plugin.before.as_deref(), &plugin.bytes, SHARED).with_context(context)?;
    }
    if let Some(text) = &plan.policy {
        let context = || format!("cannot write the policy {}", places.policy.display());
        let project = record.projects.entry(places.project.clone()).or_default();
        project.policy = Some((places.policy.clone(), user_files::sha256(text.as_bytes())));
        record.write(&places.config)?;
        user_files::create_parents(&places.policy, PRIVATE).with_context(context)?;
        // This fails if a policy has appeared since the plan was shown.
        user_files::replace(&places.policy, None, text.as_bytes(), PRIVATE).with_context(context)?;
    }
    for step in &plan.clients {
        if let ClientChange::Write { file, after } = &step.change {
            write_client(file, after, places, record)
                .with_context(|| format!("cannot write {}", file.path.display()))?;
        }
    }
    Ok(())
}

fn write_client(file: &ConfigFile, after: &str, places: &InitPlaces, record: &mut InitRecord) -> anyhow::Result<()> {
    let change = ClientRecord {
        client: file.client.name(),
        file: file.target.clone(),
        created: user_files::missing_parents(&file.target),
        sha256: user_files::sha256(after.as_bytes()),
        change: FileChange::between(file.before.as_deref(), after),
    };
    let records = match file.client.scope() {
        ConfigScope::User => &mut record.clients,
        ConfigScope::Project => &mut record.projects.entry(places.project.clone()).or_default().clients,
    };
    // An earlier record of the same file no longer fits it. Its entry is then removed by its name.
    records.retain(|known| known.file != change.file);
    records.push(change);
    record.write(&places.config)?;
    let mode = match file.client.scope() {
        ConfigScope::User => PRIVATE,
        ConfigScope::Project => SHARED,
    };
    user_files::create_parents(&file.target, mode)?;
    user_files::replace(&file.target, file.before.as_deref().map(str::as_bytes), after.as_bytes(), mode)
}
