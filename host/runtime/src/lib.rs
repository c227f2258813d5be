//! Portcullis: a host for tools that nobody has to trust.
//!
//! A tool is a function of a plugin, and a plugin is a WebAssembly component in a directory. [`Host::call`] takes what
//! a model asks for, and either runs it in a fresh sandbox with exactly the handles that the policy grants to this one
//! call, or says why not; in both cases it is recorded. The way of a call stands in `call/steps.rs`, one file per step.
//!
//! # Open a host and call a tool
//!
//! ```no_run
//! use portcullis::{Compiler, Host, Request};
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), portcullis::OpenError> {
//! let host = Host::builder("plugins", "state", Compiler::InProcess).policy_file("portcullis.toml").open().await?;
//! let reply = host.call(Request::json("files.read", &json!({ "path": "README.md" }))).await;
//! println!("{}: {}", reply.code, portcullis::text::Lines(&reply.message));
//! # Ok(())
//! # }
//! ```
//!
//! Without a policy, everything is denied. A policy file that need not exist is [`HostBuilder::policy_file_if_exists`],
//! and [`HostBuilder::policy_text`] takes text. [`Compiler::Worker`] compiles plugins in a child process with limits.
//!
//! # Approve
//!
//! If the policy says ask, the host asks an approver. Everything in a [`Question`] but its reason is untrusted text.
//!
//! ```no_run
//! use portcullis::{Answer, Compiler, Host, approver_fn};
//!
//! # async fn example() -> Result<(), portcullis::OpenError> {
//! let approver = approver_fn(async |question| {
//!     println!("May {} run with {}?", question.tool, portcullis::text::OneLine(&question.arguments));
//!     Answer::No { note: Some("nobody was there to ask".to_owned()) }
//! });
//! let host = Host::builder("plugins", "state", Compiler::InProcess)
//!     .policy_file("portcullis.toml")
//!     .approver(approver)
//!     .open()
//!     .await?;
//! # let _ = host;
//! # Ok(())
//! # }
//! ```
//!
//! Another part of the program, or another process, answers through [`Host::approvals`]. [`Host::resume`] then runs a
//! call that no longer waits.
//!
//! # Run the calls of one message
//!
//! A model asks for several calls in one message. A [`Caller`] makes their requests, and a [`Batch`] runs them.
//!
//! ```no_run
//! use portcullis::{Batch, Caller, Host};
//! use serde_json::json;
//!
//! # async fn example(host: &Host) {
//! let caller = Caller::new().session("chat-7").agent("my-agent");
//! let paths = ["README.md", "Cargo.toml"];
//! let requests = paths.map(|path| caller.request_json("files.read", &json!({ "path": path })));
//! for reply in host.batch(Batch::new(requests.into())).await {
//!     println!("{}: {}", reply.tool, reply.code);
//! }
//! # }
//! ```
//!
//! # Follow a call
//!
//! [`Host::start`] runs a call in the background, and [`Call::text`] has its text as the tool writes it.
//! [`Host::events`] has the events of all calls. Both are streams (`futures_core::Stream`).
//!
//! ```no_run
//! use portcullis::{EventKind, Host, Request};
//!
//! # async fn example(host: &Host) {
//! let mut call = host.start(Request::new("files.list", r#"{"path":"."}"#));
//! let mut events = call.events();
//! while let Some(event) = events.next().await {
//!     if let EventKind::State(state) = event.kind {
//!         println!("{} is {}", event.tool, state.as_str());
//!     }
//! }
//! let reply = call.await;
//! # let _ = reply;
//! # }
//! ```
//!
//! # Extend the host
//!
//! A [`Hook`] ([`hook_fn`]) refuses calls, or asks an approver about them. A [`Service`] ([`service_fn`]) gives plugins
//! methods of the application. [`HostBuilder::provide`] injects what the service needs.

mod admission;
mod alone;
mod approvals;
mod approver;
mod audit;
mod batch;
mod call;
mod caller;
mod catalog;
mod caught;
mod concurrency;
mod conformance;
mod events;
mod explain;
mod file_watch;
mod grants;
mod hooks;
mod host;
mod inject;
mod inner;
mod known_tool;
mod ledger;
mod nearest;
mod open;
mod origin;
mod outlook;
mod outputs;
mod pick;
mod places;
mod policy_change;
mod policy_in_force;
mod policy_source;
mod policy_text;
mod policy_warning;
mod project_policy;
mod provenance;
mod reload;
mod reply;
mod request;
mod reserved;
mod rule_gaps;
mod schema;
mod secret_file;
mod standard;
mod started;
mod steering;
mod stores;
mod stream;
pub mod text;
mod tokens;
mod turn;
mod under_way;
mod watch;
pub mod wording;

pub use approvals::{ApprovalError, Approvals, HeldAnswer, Listing, Onward, OpenQuestion, RolledBack, TrustError};
pub use approver::{Answer, Answering, Approver, Covers, DenyAll, Question, Scripted, Subject, approver_fn};
pub use audit::{AuditError, AuditLog, Entry, Fault, Kind, Verified};
pub use batch::{BATCH_CALLS_DEFAULT, BATCH_REQUESTS_MAX, Batch};
pub use call::Reach;
pub use caller::Caller;
pub use catalog::{
    Catalog, DefinitionError, Dependency, DescriptionError, DescriptionFault, FileError, LINTS_MAX, Lint, LoadError,
    NameCollision, Observer, Offer, PlaceholderError, Plugin, RefusedPlugin, Rule as LintRule, Silent, Tool, ToolNames,
    check, describe_beside, forget_refusal, lints,
};
pub use concurrency::{CALLS_DEFAULT, CALLS_MAX};
pub use conformance::{Conformance, Level, Loaded, NotTried};
pub use events::{CallState, Event, EventKind, Events};
pub use explain::Explained;
pub use file_watch::FileWatch;
pub use grants::GrantError;
pub use hooks::{
    HOOK_KEY_BYTES_MAX, HOOK_NOTES_MAX, HOOK_REASON_BYTES_MAX, HOOK_TIME_MAX, HOOK_VALUE_BYTES_MAX, Hook, HookCall,
    HookClosure, Hooked, Hooking, hook_fn,
};
pub use host::{Host, open_approvals, open_audit};
pub use inject::{
    CallFacts, InjectError, Injector, Key, ProviderError, SERVICE_TEXT_BYTES_MAX, Service, ServiceError, service_fn,
};
pub use ledger::{LedgerError, Status};
pub use open::{HostBuilder, OpenError};
pub use outlook::Outlook;
pub use outputs::{KeptOutput, OUTPUTS_BYTES_DEFAULT, OutputError, Outputs, Reader, Reference};
pub use places::PlaceError;
pub use policy_change::PolicyChangeError;
pub use policy_in_force::PolicyStatus;
pub use policy_text::PolicyReadError;
pub use policy_warning::PolicyWarning;
pub use portcullis_policy::json::{JsonError, parse as parse_json};
pub use project_policy::{GrantPlace, GrantPlaceFault, GrantPlaceKind, ProjectGrantError, ProjectPolicy};
pub use provenance::{Provenance, Repair, Validation};
pub use reload::{ReloadError, Reloaded};
pub use reply::{CallUsage, Code, Outcome, Reply};
pub use request::Request;
pub use reserved::{EXPLAIN_TOOL, is_reserved};
pub use schema::{Mismatch, Schema, SchemaError, VALIDATOR, parts as schema_parts};
pub use started::Call;
pub use steering::Steering;
pub use stream::TextStream;
pub use tokens::estimate_tokens;
pub use watch::Watch;

use portcullis_policy::json;

pub use portcullis_policy as policy;
pub use portcullis_policy::Hint;
pub use portcullis_sandbox::{
    Blob, BoxFuture, COMPONENT_BYTES_MAX, Cancellation, CompileError, Compiler, Contract, DependencyKind,
    DirectoryError, Engine, EngineConfig, EngineError, Footprint, LimitKind, Manifest, NetworkError, Output, Part,
    Progress, Refusal, StoreFault, Surface, TimeSource, Usage, check_component, compile_worker, component_imports,
    served_imports,
};
