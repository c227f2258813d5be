//! Runs one component in a fresh store under hard limits.
//!
//! This is the only crate that uses wasmtime. It owns the engine, the imports of a guest, the handles of a store, the
//! limits that end a run, and the trusted compiled code. It knows nothing about policy files, approvals or the audit
//! log. It gets limits and handles, and enforces them.

mod artefact;
mod base;
mod cancellation;
mod clock;
mod code;
mod codegen;
mod compile;
mod component;
mod context;
mod contract;
mod directory;
mod effects;
mod engine;
mod export;
mod filesystem;
mod footprint;
mod handles;
mod host_memory;
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "what only requests use, which are never sent without the feature")
)]
mod http;
mod idle_instance;
mod keyvalue;
mod log;
mod meter;
mod output;
mod own_process;
mod own_program;
mod process_group;
mod program;
mod run;
mod service;
mod settings;
mod standard_streams;
mod state;
mod stop;
mod store;
mod surroundings;
mod ticker;
mod toolset;
mod wasi;

pub use artefact::Artefact;
pub use base::PathBase;
pub use cancellation::Cancellation;
pub use code::Code;
pub use compile::{COMPILE_TIME_MAX, CompileError, Compiler, compile_worker, init};
pub use component::{COMPONENT_BYTES_MAX, Refusal, Surface, check_component, component_imports, served_imports};
pub use context::{Ask, CallContext, CallHost, OUTPUT_PIECE_BYTES_MAX, OutputFull, Progress};
pub use contract::Contract;
pub use directory::{Directory, DirectoryError, Identity, NarrowError};
pub use effects::Effects;
pub use engine::{DESCRIBE_SLOTS, Engine, EngineConfig, EngineError, REVIEW_SLOTS};
pub use export::ToolCall;
pub use footprint::Footprint;
pub use handles::{Handles, RefusedKeys, Unavailable};
pub use http::{
    BearerToken, Client, Exchange, HostBody, HostClient, HostRequestError, Network, NetworkError, PluginSecrets,
    Traffic, Unreachable, VariableError, check_secret_file, open_variable,
};
pub use idle_instance::IdleInstance;
pub use keyvalue::{STORE_KEY_BYTES_MAX, STORE_OPERATIONS_MAX, STORE_WRITTEN_BYTES_MAX, Store, StoreFault, StorePage};
pub use log::Log;
pub use own_process::confine_process;
pub use own_program::WorkerError;
pub use portcullis_confine::{ConfineError, Tier, TierReport};
pub use portcullis_confine::{OwnRights, ViewAccess, can_restrict_own_process};
pub use process_group::ProcessGroup;
pub use program::{
    Escalation, Missing, Program, ProgramExtra, ProgramFile, ProgramSetup, ServerProcess, ServerStart, program_tier,
};
pub use run::{Ran, RunSetup, Usage};
pub use service::Service;
pub use stop::{LimitKind, Stop};
pub use store::{CACHE_BYTES_MAX, CodeStore, CompileTurn, Entry, Fetched, InUse, StoreError};
pub use surroundings::{Surroundings, TimeSource};
pub use toolset::{
    AnswerRoom, ApprovedCalls, CallableTool, INNER_CALLS_AT_ONCE_MAX, InnerAnswers, InnerCall, InnerCalls,
    InnerOutlook, PLANNED_CALLS_MAX, ToolSummary,
};

/// A boxed future that is `Send`.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
