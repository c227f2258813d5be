//! The plugins and the policy together: opens a host as every command does.

use super::finding::DoctorFinding;
use crate::context::Context;
use crate::opening;
use portcullis::plugins::{DependencyKind, Plugin};
use portcullis::policy::Permission;
use portcullis::text::WithCauses;

/// Opens a host, and reports what does not load and what no rule lets run.
pub(super) async fn check(context: &Context) -> Vec<DoctorFinding> {
    let host = match opening::open_quietly(context).await {
        Ok(host) => host,
        Err(error) => {
            let remedy = "correct what the message names; until then no command opens a host";
            return vec![DoctorFinding::error("host", format!("it cannot open: {error:#}"), remedy)];
        }
    };
    let catalog = host.catalog();
    let mut findings = vec![DoctorFinding::ok("host", format!("it opens, under {}", opening::in_force(context)))];
    // Opening the host has revoked everything, so no later command finds this again.
    if let Some(rolled_back) = host.approvals().rolled_back() {
        let remedy = "approve and trust again what should still count";
        findings.push(DoctorFinding::warning("ledger", rolled_back.to_string(), remedy));
    }
    for refused in catalog.refused() {
        let why = format!("{} is refused: {}", refused.file, WithCauses(&*refused.error));
        let file = context.environment.plugins.file(&refused.file);
        findings.push(DoctorFinding::error("plugin", why, format!("portcullis check {}", file.display())));
    }
    let loaded: Vec<&str> =
        catalog.plugins().filter(|plugin| !plugin.is_standard()).map(|plugin| plugin.name().as_str()).collect();
    if loaded.is_empty() {
        let remedy = "run `portcullis init`, or copy plugins into a plugin directory";
        findings.push(DoctorFinding::warning("plugin", "none is installed", remedy));
    } else {
        findings.push(DoctorFinding::ok("plugin", format!("{} load", loaded.join(", "))));
    }
    for plugin in catalog.plugins().filter(|plugin| !plugin.is_standard()) {
        if let Some(off) = what_is_off(&host, plugin) {
            let name = plugin.name();
            let off = format!("{name} {off} yet: `portcullis inspect {name}` shows the lines to add");
            findings.push(DoctorFinding::ok("policy", off));
        } else if !may_run(&host, plugin) {
            let why = format!("the policy lets no tool of {} run", plugin.name());
            let remedy = format!("portcullis inspect {} shows the lines to add", plugin.name());
            findings.push(DoctorFinding::warning("policy", why, remedy));
        }
    }
    for warning in host.policy_warnings() {
        findings.push(DoctorFinding::warning("policy", warning.to_string(), warning.remedy()));
    }
    for gap in host.rule_gaps() {
        findings.push(DoctorFinding::warning("policy", gap.to_string(), "add the mask to the grant"));
    }
    if let Some(path) = host.untrusted_policy() {
        findings.push(DoctorFinding::warning(
            "policy",
            format!("{} is not trusted, so it only narrows", path.display()),
            format!("review it, and run `portcullis trust {}`", path.display()),
        ));
    }
    findings
}

fn may_run(host: &portcullis::Host, plugin: &Plugin) -> bool {
    plugin.tools().any(|tool| host.may_run(plugin, tool))
}

/// Returns what a plugin does not do, if it only runs programs or needs a server, and the policy binds nothing to it.
/// `init` installs such a plugin and leaves it off, because only the user knows which programs a model may run, and
/// which server to use.
fn what_is_off(host: &portcullis::Host, plugin: &Plugin) -> Option<&'static str> {
    if !host.policy().bindings(plugin.name()).is_empty() {
        return None;
    }
    if plugin.tools().all(|tool| tool.required().contains(Permission::Execute)) {
        Some("runs no program")
    } else {
        let mut dependencies = plugin.dependencies().values();
        let needs_server =
            dependencies.any(|dependency| dependency.kind == DependencyKind::Http && !dependency.optional);
        needs_server.then_some("reaches no server")
    }
}
