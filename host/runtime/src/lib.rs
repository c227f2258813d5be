//! Portcullis: a host for untrusted tools of AI agents.
//!
//! A tool is a function of a plugin, and a plugin is a WebAssembly component in a directory. [`Host::call`] runs a call
//! that a model requests in a fresh sandbox, with exactly the handles that the policy grants to this call. Otherwise
//! the reply says why the call did not run. Every call is recorded in the audit log. The steps of a call are in
//! `call/steps.rs`, one file per step.
//!
//! # Open a host and call a tool
//!
//! ```no_run
//! use portcullis::{Host, Request};
//! use serde_json::json;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), portcullis::OpenError> {
//!     portcullis::init();
//!     let host = Host::builder("plugins", "state").policy_file("portcullis.toml").open().await?;
//!     let reply = host.call(Request::json("files.read", &json!({ "path": "README.md" }))).await;
//!     println!("{}: {}", reply.code, portcullis::text::Lines(&reply.message));
//!     Ok(())
//! }
//! ```
//!
//! Plugins are compiled in a child process of the same program, with limits on time and memory. [`init`] makes the
//! child compile, so it is the first line of `main`. Tests and other programs without a `main` of their own choose
//! [`Compiler::InProcess`] with [`HostBuilder::compiler`]. That compiler cannot be stopped.
//!
//! Without a policy, everything is denied. A policy file that need not exist is [`HostBuilder::policy_file_if_exists`],
//! and [`HostBuilder::policy_text`] takes text.
//!
//! An error shows its own part, and its cause is its `source()`. [`text::WithCauses`] shows both.
//!
//! # Approve
//!
//! If the policy says ask, the host asks an approver. Everything in a [`Question`] but its reason is untrusted text.
//!
//! ```no_run
//! use portcullis::{Answer, Host, approver_fn};
//!
//! # async fn example() -> Result<(), portcullis::OpenError> {
//! let approver = approver_fn(async |question| {
//!     println!("May {} run with {}?", question.tool, portcullis::text::OneLine(&question.arguments));
//!     Answer::No { note: Some("no approver is present".to_owned()) }
//! });
//! let builder = Host::builder("plugins", "state").policy_file("portcullis.toml");
//! let host = builder.approver(approver).open().await?;
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
//! use portcullis::events::EventKind;
//! use portcullis::{Host, Request};
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
//! A [`Hook`] ([`hook_fn`]) refuses calls, or asks an approver about them. A [`services::Service`]
//! ([`services::service_fn`]) gives plugins methods of the application. [`HostBuilder::provide`] injects what the
//! service needs.
//!
//! [`Host::register`] adds plugins to a running host: the bytes of a component ([`ComponentPlugin`]), or functions of
//! the application ([`native::NativePlugin`]). A native tool runs without a sandbox, and takes all the other steps.
//!
//! # Cargo features
//!
//! All features but `bucket` and `postgres` are on by default. To leave some out, name the others:
//! `default-features = false, features = ["http"]`. With the default ones, the library consists of 298 crates, and of
//! 250 without any.
//!
//! | feature | what it brings | crates with it alone |
//! |---|---|---|
//! | `bucket` | `postgres`, and large outputs in an S3-compatible store: [`state::BucketAddress`] | 290 |
//! | `compiler` | the compiler of plugins | 271 |
//! | `http` | the HTTP client of plugins: DNS, TLS and HTTP | 276 |
//! | `postgres` | a ledger that hosts on many machines share: [`state::PostgresAddress`] | 281 |
//! | `sqlite` | the ledger: approvals, stores of plugins, kept outputs and trust | 255 |
//! | `watch` | [`Host::watch`] and [`FileWatch`] | 250 |
//!
//! - Without `bucket`, a host does not open if its outputs are in a bucket.
//! - Without `compiler`, a host loads only plugins whose code is in the cache, which is in its state directory. It
//!   refuses the others with [`plugins::CompileError::NoCompiler`]. To fill the cache, open the same directories once
//!   with a program of the same version that has the feature, such as `portcullis list`.
//! - Without `http`, a host does not open if the policy grants a loaded plugin an HTTP client. A plugin that imports
//!   `wasi:http` loads, and gets what it gets without a grant.
//! - Without `postgres`, a host does not open if its ledger is in a database.
//! - Without `sqlite`, the ledger of a directory is empty and cannot be written. A call that the policy asks about is
//!   refused with [`Code::RecordUnavailable`], because its approval could not be kept. A long answer is cut, and not
//!   kept. A host does not open if the policy grants a loaded plugin a store, or if the state directory has a ledger.
//! - Without `watch`, the application calls [`Host::reload`] itself.
//!
//! A program can link only one SQLite. The library accepts `rusqlite` 0.38 to 0.43, so that an application can also use
//! sqlx 0.9 or diesel 2.3.

mod accept;
mod admission;
mod alone;
pub mod approvals;
mod approver;
pub mod audit;
mod audit_reader;
mod batch;
mod batched_call;
mod call;
mod call_plan;
mod call_selection;
mod caller;
mod catalog;
mod caught;
mod concurrency;
mod conformance;
pub mod events;
mod explain;
#[cfg(feature = "watch")]
mod file_watch;
mod grants;
pub mod hooks;
mod host;
mod host_metrics;
mod inject;
mod inner;
mod inner_quota;
mod kept_instances;
mod kept_outputs;
mod known_tool;
mod ledger_rounds;
pub mod ledger_standing;
pub mod live;
pub mod metrics;
pub mod native;
mod offered;
mod open;
mod origin;
mod outlook;
pub mod outputs;
mod own_confinement;
mod parent_call;
mod places;
mod policy_change;
mod policy_in_force;
mod policy_source;
mod policy_text;
mod policy_warning;
mod project_policy;
pub mod provenance;
mod question_words;
mod rate_sharing;
mod registration;
mod rehearsal;
mod reload;
mod reply;
mod request;
mod request_arguments;
mod reserved;
mod results;
mod rule_gaps;
mod secret_file;
mod server_login;
mod servers;
pub mod shared_calls;
mod shared_ledger;
pub mod shared_sessions;
mod standard;
mod started;
mod steering;
pub mod storage;
mod storage_health;
mod stores;
mod stream;
pub mod text;
mod tool_outlook;
mod trimmed_result;
mod turn;
mod under_way;
mod valid_call;
#[cfg(feature = "watch")]
mod watch;
pub mod wording;

pub use accept::AcceptError;
pub use approvals::Approvals;
pub use approver::{Answer, Approver, Covers, Question, approver_fn};
pub use audit_reader::AuditReader;
pub use batch::{BATCH_CALLS_DEFAULT, BATCH_REQUESTS_MAX, Batch};
pub use batched_call::BatchedCall;
pub use call::Reach;
pub use caller::Caller;
pub use concurrency::{CALLS_DEFAULT, CALLS_MAX};
pub use explain::Explained;
#[cfg(feature = "watch")]
pub use file_watch::FileWatch;
pub use hooks::{Hook, HookCall, Hooked, hook_fn};
pub use host::{Host, open_approvals, open_audit, open_shared_ledger};
pub use kept_outputs::KeptOutputs;
pub use offered::OfferedTools;
pub use open::{HostBuilder, OpenError};
pub use outlook::Outlook;
pub use portcullis_policy::json::{JsonError, parse as parse_json};
pub use reload::{ComponentPlugin, RegisterError, Registration, ReloadError, Reloaded, UnregisterError};
pub use reply::{CallUsage, Code, Outcome, Reply};
pub use request::Request;
pub use results::{ConversationResults, Results, ResultsBudget};
pub use shared_ledger::SharedLedger;
pub use started::Call;
pub use steering::Steering;
pub use tool_outlook::ToolOutlook;
pub use trimmed_result::TrimmedResult;
#[cfg(feature = "watch")]
pub use watch::Watch;

pub use portcullis_ledger::Timestamp;
use portcullis_ledger::ledger;
use portcullis_policy::json;

#[doc(inline)]
pub use portcullis_definitions::{
    manifest::{Blob, Output, Part},
    tokens::estimate_tokens,
};
pub use portcullis_policy as policy;
pub use portcullis_sandbox::{
    BoxFuture, Cancellation, Compiler, Footprint, LimitKind, NetworkError, StoreFault, TimeSource, Usage,
    compile_worker, init,
};

/// Plugins and their tools: the catalog of a host, and how a component is checked and loaded outside of a host.
pub mod plugins {
    pub use crate::catalog::{
        Catalog, CodeCache, DescriptionError, DescriptionFault, FileError, GeneratedChange, GenerationError, LoadError,
        Observer, Offer, Plugin, RefusedPlugin, Silent, ToolNames, check, describe_beside, forget_refusal,
    };
    pub use crate::conformance::{Conformance, Level, Loaded, NotTried};
    pub use crate::grants::packages_of;
    pub use crate::known_tool::known as known_tool;
    pub use crate::rehearsal::{ReducedOffer, Rehearsal};
    pub use crate::reserved::{BATCH_TOOL, EXPLAIN_TOOL, is_reserved};
    pub use crate::servers::ServerFault;
    #[doc(inline)]
    pub use portcullis_definitions::{
        definition::DefinitionError,
        lint::{LINTS_MAX, Lint, Rule as LintRule, lints},
        manifest::{Definition, DependencyKind, Manifest},
        names::NameCollision,
        placeholders::PlaceholderError,
        schema::{Mismatch, Schema, SchemaError, VALIDATOR, parts as schema_parts},
        tool::{Dependency, Tool},
    };
    pub use portcullis_policy::Hint;
    pub use portcullis_sandbox::{
        COMPONENT_BYTES_MAX, CompileError, Contract, DirectoryError, Engine, EngineConfig, EngineError, Refusal,
        Surface, WorkerError, check_component, component_imports, served_imports,
    };
}

/// Logins to the servers of the policy.
pub mod logins {
    pub use crate::server_login::{LoggedOut, OfferedLogin, PendingLogin, ServerLoginError};
    pub use crate::servers::{AccountError, LoginStatus};
    pub use portcullis_upstream::LoginError;
}

/// The process of a host: what it gives up once everything is open.
pub mod confinement {
    pub use crate::own_confinement::{GivenUp, OwnConfinementError, OwnNeeds};
    pub use portcullis_sandbox::can_restrict_own_process;
}

/// Programs that tools run: how this machine confines them.
pub mod programs {
    pub use portcullis_sandbox::{ConfineError, Tier, TierReport, program_tier};
}

/// The files of a policy: a project's own, what is wrong with one, and which one is in force.
pub mod policy_files {
    pub use crate::grants::GrantError;
    pub use crate::places::PlaceError;
    pub use crate::policy_change::PolicyChangeError;
    pub use crate::policy_in_force::PolicyStatus;
    pub use crate::policy_text::PolicyReadError;
    pub use crate::policy_warning::PolicyWarning;
    pub use crate::project_policy::{GrantPlace, GrantPlaceFault, ProjectGrantError, ProjectPolicy};
    pub use crate::standard::POLICY as BUILT_IN_POLICY;
    pub use portcullis_policy::GrantPlaceKind;
}

/// Where a host keeps its state: a directory, and possibly a database that it shares with other hosts.
pub mod state {
    pub use crate::places::{BucketAddress, OutputsAddress, PostgresAddress, StatePlace};
}

/// Services of the application that plugins may call, and the values that they are made from.
pub mod services {
    pub use crate::inject::{
        CallFacts, InjectError, Injector, Key, ProviderError, SERVICE_TEXT_BYTES_MAX, Service, ServiceError, service_fn,
    };
}
