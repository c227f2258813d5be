//! The configurations of agents: whether the server is in them, and whether they start this program with this project.

use super::super::init::InitPlaces;
use super::finding::DoctorFinding;
use crate::clients::{AgentClient, ConfigFile, EntryState};
use crate::init_record::InitRecord;
use std::path::Path;

/// Checks every agent that is in use here.
pub(super) fn check(places: &InitPlaces, record: &InitRecord) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    for client in AgentClient::ALL.into_iter().filter(|client| client.is_here(&places.clients())) {
        findings.extend(of_client(client, places));
    }
    if findings.is_empty() {
        findings.push(DoctorFinding::ok("agents", "none is in use here"));
    }
    for project in record.projects.keys().filter(|project| !project.is_dir()) {
        findings.push(DoctorFinding::warning(
            "projects",
            format!("{} no longer exists, but it has a policy", project.display()),
            "run `portcullis uninstall` to remove everything, or remove the policy file",
        ));
    }
    findings
}

fn of_client(client: AgentClient, places: &InitPlaces) -> Option<DoctorFinding> {
    let again = format!("portcullis init --client {}", client.name());
    let file = match ConfigFile::read(client, &places.clients(), &places.command(client))? {
        Ok(file) => file,
        Err(left) => {
            let why = format!("{}: {}: {}", client.title(), left.path.display(), left.why);
            return Some(DoctorFinding::warning("agents", why, again));
        }
    };
    let shown = places.shown(&file.path);
    Some(match file.entry() {
        Ok(EntryState::Expected) => {
            DoctorFinding::ok("agents", format!("{}: {shown} starts this program", client.title()))
        }
        Ok(EntryState::Missing) => {
            DoctorFinding::warning("agents", format!("{}: the server is not in {shown}", client.title()), again)
        }
        Ok(EntryState::Other { words, also }) => other(client, &shown, (&words, &also), again),
        Err(error) => DoctorFinding::warning(
            "agents",
            format!("{}: {shown} cannot be read: {error}", client.title()),
            "correct the file",
        ),
    })
}

/// An entry that starts another program, or this one in another way.
fn other(client: AgentClient, shown: &str, (words, also): (&[String], &[String]), again: String) -> DoctorFinding {
    let line = words.join(" ");
    // The names alone: a variable may be a secret.
    let also = if also.is_empty() { String::new() } else { format!(" with `{}`", also.join("`, `")) };
    // Any other path depends on where the agent starts the program.
    let program = words.first().map(Path::new).filter(|program| program.is_absolute());
    match program {
        Some(program) if !program.exists() => {
            let why = format!("{}: {shown} starts {}, which does not exist", client.title(), program.display());
            DoctorFinding::error("agents", why, again)
        }
        Some(_) | None => {
            let why = format!("{}: {shown} starts `{line}`{also}, which is not what `init` writes", client.title());
            DoctorFinding::warning("agents", why, format!("if that is not what you want: {again}"))
        }
    }
}
