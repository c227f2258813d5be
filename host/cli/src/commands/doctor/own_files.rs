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

/// The user that administers the machine.
const ROOT: u32 = 0;

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
    if !is_good_owner(metadata.uid(), rustix::process::geteuid().as_raw(), closed) {
        return DoctorFinding::error(what, format!("{shown} belongs to another user"), "use a place of your own");
    }
    if metadata.mode() & closed != 0 {
        let why = format!("{shown} is open to other users, with mode {:o}", metadata.mode() & 0o7777);
        return DoctorFinding::error(what, why, format!("chmod {remedy} {shown}"));
    }
    DoctorFinding::ok(what, shown.to_string())
}

/// Returns whether a place belongs to the right user. What a service only reads may belong to root, so that the service
/// cannot change it.
fn is_good_owner(owner: u32, user: u32, closed: u32) -> bool {
    owner == user || (owner == ROOT && closed == WRITE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_belong_to_root_and_the_state_may_not() {
        let rows = [
            (1000, WRITE_BITS, true),
            (1000, STATE_OPEN_BITS, true),
            (ROOT, WRITE_BITS, true),
            (ROOT, STATE_OPEN_BITS, false),
            (1001, WRITE_BITS, false),
            (1001, STATE_OPEN_BITS, false),
        ];
        for (owner, closed, is_good) in rows {
            assert_eq!(is_good_owner(owner, 1000, closed), is_good, "{owner} {closed:o}");
        }
    }
}
