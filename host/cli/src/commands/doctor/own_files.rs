//! The program's own directories and files: whether they exist, whose they are, and who else can use them.

use super::finding::DoctorFinding;
use crate::context::Context;
use crate::environment::{PluginPlaces, PolicyPlaces};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Permissions of others that the state directory must not have.
const STATE_OPEN_BITS: u32 = 0o077;

/// Permissions of others with which they could change a policy or a plugin.
const WRITE_BITS: u32 = 0o002;

/// Checks the directories and the policy.
pub(super) fn check(context: &Context) -> Vec<DoctorFinding> {
    let environment = &context.environment;
    let mut findings = Vec::new();
    match environment.state() {
        Ok(state) => findings.push(place("state", state, STATE_OPEN_BITS, "go-rwx", "is created at the first start")),
        Err(error) => findings.push(DoctorFinding::error("state", error.to_string(), "set HOME, or use --state DIR")),
    }
    if let Some(config) = &environment.user.config {
        findings.push(place("config", config, WRITE_BITS, "o-w", "does not exist: `portcullis init` creates it"));
    }
    let policy = match &environment.policy {
        PolicyPlaces::Named(path) => Some(path),
        PolicyPlaces::Usual { user, .. } => user.as_ref().map(|user| &user.path),
    };
    match policy {
        Some(path) if path.exists() => findings.push(place("policy", path, WRITE_BITS, "o-w", "")),
        Some(_) | None => findings.push(DoctorFinding::warning(
            "policy",
            format!("there is none for {}, so everything is denied", environment.project.display()),
            "run `portcullis init` in the directory of your project",
        )),
    }
    let plugins: Vec<&Path> = match &environment.plugins {
        PluginPlaces::Named(directory) => vec![directory],
        PluginPlaces::Usual { user, project } => user.iter().chain([project]).map(|path| path.as_path()).collect(),
    };
    for directory in plugins {
        findings.push(place("plugins", directory, WRITE_BITS, "o-w", "does not exist"));
    }
    findings
}

/// Checks the owner and the permissions of one place.
fn place(what: &'static str, path: &Path, closed: u32, remedy: &str, missing: &str) -> DoctorFinding {
    let shown = path.display();
    let metadata = match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return DoctorFinding::ok(what, format!("{shown} {missing}"));
        }
        Err(error) => {
            return DoctorFinding::error(what, format!("{shown}: {error}"), "correct the permissions of its directory");
        }
        Ok(metadata) => metadata,
    };
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return DoctorFinding::error(what, format!("{shown} belongs to another user"), "use a place of your own");
    }
    if metadata.mode() & closed != 0 {
        let why = format!("{shown} is open to other users, with mode {:o}", metadata.mode() & 0o7777);
        return DoctorFinding::error(what, why, format!("chmod {remedy} {shown}"));
    }
    DoctorFinding::ok(what, shown.to_string())
}
