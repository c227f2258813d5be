//! `portcullis audit verify --all`: compares audit logs with their anchors in the database of a shared ledger.
//!
//! A log is in the state directory of its host. So the command checks the logs that it is given, and says which others
//! there are.

use super::Context;
use crate::arguments::VerifyArguments;
use crate::environment::variable;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::json::{self, DocumentKind};
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use crate::time::span;
use anyhow::ensure;
use portcullis::audit::AnchoredChain;
use portcullis::text::OneLine;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Digits of the id of a log that people see. `--json` has all of them.
const CHAIN_DIGITS: usize = 8;

/// An audit log, and what was found about it.
struct ChainReport {
    chain: String,
    /// What its host anchored. `None` if there is nothing.
    anchored: Option<AnchoredChain>,
    /// What the check found. `None` if the log is not here.
    checked: Option<CheckedLog>,
}

/// An audit log that was checked.
struct CheckedLog {
    directory: PathBuf,
    entries: u64,
    faults: Vec<String>,
}

pub(super) async fn run(arguments: &VerifyArguments, context: &Context) -> anyhow::Result<Exit> {
    let own = context.environment.state()?;
    // A set, because the user may name the own directory too.
    let directories: BTreeSet<&Path> = arguments.directories.iter().map(PathBuf::as_path).chain([own]).collect();
    for directory in &directories {
        let none = || format!("there is no audit log in {}", OneLine(&directory.display().to_string()));
        // Opening a directory would begin a log.
        let is_there = ["key", "audit.jsonl"].iter().all(|name| directory.join(name).is_file());
        ensure!(is_there, CommandError::new(FailureCode::NoState, none()));
    }
    let ledger = portcullis::open_shared_ledger(context.environment.state_place()?).await?;
    let anchored = ledger.anchors().await?.ok_or_else(|| {
        CommandError::new(
            FailureCode::Usage,
            "--all compares audit logs with the database of a shared ledger".to_owned(),
        )
        .help("name the database with a second --state, such as `--state env:LEDGER`, and give --ledger-key")
    })?;
    let mut reports: Vec<ChainReport> = anchored.into_iter().map(ChainReport::of).collect();
    for directory in directories {
        check(directory, &mut reports, context).await?;
    }
    show(&reports, context)?;
    Ok(if reports.iter().any(ChainReport::is_damaged) { Exit::RecordDamaged } else { Exit::Completed })
}

/// Checks the log of a state directory.
async fn check(directory: &Path, reports: &mut Vec<ChainReport>, context: &Context) -> anyhow::Result<()> {
    let reader = portcullis::open_audit(context.environment.state_options.place(directory, variable)?).await?;
    let chain = reader.chain_id();
    let known = reports.iter_mut().find(|report| report.chain == chain);
    let anchors = known.as_ref().and_then(|report| report.anchored.as_ref()).map(|found| found.anchors.clone());
    let (verified, differs) = reader.read_anchored(anchors.unwrap_or_default(), |_| Ok(())).await?;
    let mut faults: Vec<String> = verified.fault.iter().map(ToString::to_string).collect();
    faults.extend(differs.map(|fault| fault.to_string()));
    let checked = CheckedLog { directory: directory.to_owned(), entries: verified.lines, faults };
    match known {
        // A copy of a log that was checked before. The damaged one counts.
        Some(report) if report.checked.as_ref().is_some_and(|checked| !checked.faults.is_empty()) => {}
        Some(report) => report.checked = Some(checked),
        None => reports.push(ChainReport { chain, anchored: None, checked: Some(checked) }),
    }
    Ok(())
}

impl ChainReport {
    fn of(anchored: AnchoredChain) -> Self {
        Self { chain: anchored.chain.clone(), anchored: Some(anchored), checked: None }
    }

    /// Returns what is wrong with the anchors, and then what is wrong with the log.
    fn faults(&self) -> Vec<String> {
        let damage = self.anchored.as_ref().and_then(AnchoredChain::damage);
        let checked = self.checked.iter().flat_map(|checked| &checked.faults);
        damage.map(|damage| damage.to_string()).into_iter().chain(checked.cloned()).collect()
    }

    fn is_damaged(&self) -> bool {
        !self.faults().is_empty()
    }

    /// Returns the word for what was found.
    fn state(&self) -> &'static str {
        match &self.checked {
            _ if self.is_damaged() => "damaged",
            None => "not checked",
            Some(_) if self.anchored.is_none() => "no anchor",
            Some(_) => "verifies",
        }
    }

    fn document(&self) -> Value {
        let newest = self.anchored.as_ref().and_then(|anchored| anchored.anchors.last());
        json!({
            "chain": self.chain,
            "place": self.anchored.as_ref().map(|anchored| &anchored.place),
            "state": self.state(),
            "faults": self.faults(),
            "directory": self.checked.as_ref().map(|checked| checked.directory.display().to_string()),
            "entries": self.checked.as_ref().map(|checked| checked.entries),
            "anchors": self.anchored.as_ref().map_or(0, |anchored| anchored.anchors.len()),
            "anchored_entries": newest.map(|newest| newest.head.entries),
            "anchored_at": newest.map(|newest| newest.at.to_string()),
            "anchored_s_ago": self.anchored.as_ref().map(|anchored| anchored.age.as_secs()),
        })
    }

    fn cells(&self) -> [TableCell; 6] {
        let (state, look) = (
            self.state(),
            match self.state() {
                "verifies" => TextStyle::Good,
                "damaged" => TextStyle::Bad,
                _ => TextStyle::Doubtful,
            },
        );
        let newest = self.anchored.as_ref().and_then(|anchored| anchored.anchors.last());
        let age = self.anchored.as_ref().map_or_else(|| "never".to_owned(), |found| format!("{} ago", span(found.age)));
        let directory = self.checked.as_ref().map(|checked| checked.directory.display().to_string());
        let place = self.anchored.as_ref().map(|anchored| anchored.place.clone()).or(directory);
        [
            TableCell::new(TextStyle::Strong, self.chain.get(..CHAIN_DIGITS).unwrap_or(&self.chain)),
            TableCell::new(look, state),
            TableCell::plain(&self.checked.as_ref().map_or_else(String::new, |checked| checked.entries.to_string())),
            TableCell::plain(&newest.map_or_else(String::new, |newest| newest.head.entries.to_string())),
            TableCell::plain(&age),
            TableCell::plain(&place.unwrap_or_default()),
        ]
    }
}

fn show(reports: &[ChainReport], context: &Context) -> anyhow::Result<()> {
    let verifies = !reports.iter().any(ChainReport::is_damaged);
    if context.json {
        let chains: Vec<Value> = reports.iter().map(ChainReport::document).collect();
        let document = json!({ "verifies": verifies, "chains": chains });
        context.terminal.print(&json::document(DocumentKind::AllAuditsVerification, &document)?)?;
    } else {
        let mut table = Table::default();
        let titles = ["LOG", "STATE", "ENTRIES", "ANCHORED", "LAST ANCHOR", "PLACE"];
        table.row(titles.map(|title| TableCell::new(TextStyle::Quiet, title)));
        reports.iter().for_each(|report| table.row(report.cells()));
        context.terminal.print(&table.render_whole(context.terminal.style(), "", context.terminal.width()))?;
    }
    let style = context.terminal.note_style();
    for report in reports {
        let chain = report.chain.get(..CHAIN_DIGITS).unwrap_or(&report.chain);
        for fault in report.faults() {
            let label = style.paint(TextStyle::Bad, format!("the audit log {chain} does not verify:"));
            context.terminal.note(format_args!("{label} {fault}"));
        }
    }
    let absent = reports.iter().filter(|report| report.checked.is_none()).count();
    if absent > 0 {
        let logs = if absent == 1 { "1 log was".to_owned() } else { format!("{absent} logs were") };
        let remedy = "give their state directories or copies of them";
        context.terminal.note(format_args!("{logs} not checked, because the files are not here: {remedy}"));
    }
    Ok(())
}
