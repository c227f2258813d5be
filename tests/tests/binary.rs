//! The program as a user or a script sees it: exit codes, JSON documents, and terminal output that hostile text cannot
//! corrupt. `cargo xtask test` builds the program and the plugins.

#![allow(clippy::disallowed_methods, reason = "tests start the program and lay out its files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "binary/desk.rs"]
mod desk;

#[path = "binary/editing.rs"]
mod editing;

#[path = "binary/exits.rs"]
mod exits;

#[path = "binary/composition.rs"]
mod composition;

#[path = "binary/documents.rs"]
mod documents;

#[path = "binary/export.rs"]
mod export;

#[path = "binary/rule_gaps.rs"]
mod rule_gaps;

#[path = "binary/loading.rs"]
mod loading;

#[path = "binary/places.rs"]
mod places;

#[path = "binary/files.rs"]
mod files;

#[path = "binary/escapes.rs"]
mod escapes;

#[path = "binary/policy_lines.rs"]
mod policy_lines;

#[path = "binary/processes.rs"]
mod processes;

#[path = "binary/own_confinement.rs"]
mod own_confinement;

#[path = "binary/program_asks.rs"]
mod program_asks;

#[path = "binary/program_network.rs"]
mod program_network;

#[path = "binary/programs.rs"]
mod programs;

#[path = "binary/console.rs"]
pub(crate) mod console;

#[path = "binary/terminal.rs"]
mod terminal;

#[path = "binary/prompt.rs"]
mod prompt;

#[path = "binary/log.rs"]
mod log;

#[path = "binary/notify.rs"]
mod notify;

#[path = "binary/watch.rs"]
mod watch;

#[path = "binary/approvals.rs"]
mod approvals;

#[path = "binary/trust.rs"]
mod trust;

#[path = "binary/ledger.rs"]
mod ledger;

#[path = "binary/lints.rs"]
mod lints;

#[path = "binary/tokens.rs"]
mod tokens;

#[path = "binary/schemas.rs"]
mod schemas;

#[path = "binary/errors.rs"]
mod errors;

#[path = "binary/manual.rs"]
mod manual;

#[path = "binary/widths.rs"]
mod widths;

#[path = "binary/installed.rs"]
mod installed;

#[path = "binary/init.rs"]
mod init;

#[path = "binary/questions.rs"]
mod questions;

#[path = "binary/deploy.rs"]
mod deploy;

#[path = "binary/doctor.rs"]
mod doctor;
