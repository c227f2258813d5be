//! The state directory: whether the audit log verifies, whether its time is that of the clock, and what ended processes
//! left behind. Nothing is created if there is no state yet.

use super::finding::DoctorFinding;
use crate::context::Context;
use crate::user_files;
use portcullis::text::WithCauses;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Maximum size of an audit log that is verified here, in bytes. It takes about a second.
const VERIFIED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How far the last entry may be in the future. A clock that was set back by more makes approvals last longer.
const CLOCK_STEP_MAX: Duration = Duration::from_secs(300);

/// Digits of a hash that distinguish the policies of the hosts.
const HASH_DIGITS: usize = 12;

/// Endings of files that are written and then renamed.
const TEMPORARY: [&str; 2] = [".new", ".partial"];

/// Checks the state directory, if there is one.
pub(super) async fn check(context: &Context) -> Vec<DoctorFinding> {
    let Ok(state) = context.environment.state() else { return Vec::new() };
    let log = state.join("audit.jsonl");
    let Ok(metadata) = log.metadata() else { return Vec::new() };
    let mut findings = Vec::new();
    // Each entry changes the time of the file, so this needs no reading.
    if let Ok(written) = metadata.modified()
        && written > SystemTime::now() + CLOCK_STEP_MAX
    {
        let remedy = "set the clock: until it is later than the last entry, approvals last longer than they should";
        findings.push(DoctorFinding::warning("clock", "the last entry of the audit log is in the future", remedy));
    }
    findings.push(match metadata.len() {
        0..=VERIFIED_BYTES_MAX => verified(context).await,
        _ => DoctorFinding::ok("audit log", "too long to verify here: run `portcullis audit verify`"),
    });
    findings.extend(policies(context).await);
    findings.push(left_behind(state));
    findings
}

async fn verified(context: &Context) -> DoctorFinding {
    let what = "audit log";
    let remedy = "run `portcullis audit verify`; to start a new state, move the state directory away";
    let place = match context.environment.state_place() {
        Ok(place) => place,
        Err(error) => return DoctorFinding::error(what, format!("{error:#}"), remedy),
    };
    let reader = match portcullis::open_audit(place).await {
        Ok(reader) => reader,
        Err(error) => return DoctorFinding::error(what, format!("it cannot be opened: {error}"), remedy),
    };
    match reader.read(|_| Ok(())).await {
        Ok(verified) => match verified.fault {
            None => DoctorFinding::ok(what, "it verifies"),
            Some(fault) => DoctorFinding::error(what, format!("it does not verify: {fault}"), remedy),
        },
        Err(error) => DoctorFinding::error(what, format!("it cannot be read: {error}"), remedy),
    }
}

/// Compares the policies of the hosts that share a ledger, if it is shared.
async fn policies(context: &Context) -> Option<DoctorFinding> {
    let what = "shared ledger";
    let place = context.environment.state_place().ok()?;
    let asked = async { portcullis::open_shared_ledger(place).await?.policies().await };
    match asked.await {
        Ok(None) => None,
        Ok(Some(policies)) if policies.len() > 1 => {
            let shown: Vec<String> = policies
                .iter()
                .map(|(sha256, hosts)| format!("{} on {hosts}", sha256.get(..HASH_DIGITS).unwrap_or(sha256)))
                .collect();
            let message = format!("its hosts have different policies: {}", shown.join(", "));
            Some(DoctorFinding::warning(what, message, "give all hosts the same policy"))
        }
        Ok(Some(policies)) => {
            let hosts: u64 = policies.values().sum();
            let hosts = if hosts == 1 { "1 host runs".to_owned() } else { format!("{hosts} hosts run") };
            Some(DoctorFinding::ok(what, format!("{hosts}, and all have one policy")))
        }
        Err(error) => {
            let message = format!("it cannot be asked: {}", WithCauses(&error));
            Some(DoctorFinding::error(what, message, "see whether this machine reaches the database"))
        }
    }
}

fn left_behind(state: &Path) -> DoctorFinding {
    let names = user_files::list(state).unwrap_or_default();
    let left: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| TEMPORARY.iter().any(|end| name.ends_with(end))).collect();
    if left.is_empty() {
        return DoctorFinding::ok("leftovers", "none: what ended processes leave is settled at the next start");
    }
    let files = left.join(", ");
    DoctorFinding::warning(
        "leftovers",
        format!("a process that was killed left {files} in {}", state.display()),
        "remove these files while no portcullis runs",
    )
}
