//! Decides whether a call may run, and with what: names, rules, limits and bindings. Does no I/O.
//!
//! The host passes the text of a policy to [`Policy::parse`], and then asks the [`Policy`] for decisions. A call that
//! no rule matches is denied by default, and a text with any error is not a policy. This crate must not know a file
//! system, a network, a clock, or the engine that runs calls.

// Strict parsing of JSON.
pub mod json;

// Locks that stay in service after a panic. Not part of the policy, but shared by the crates of the host.
#[doc(hidden)]
pub mod recovery;

// The known name that was probably meant by another. Shared by the crates of the host.
#[doc(hidden)]
pub mod nearest;

// The vocabulary of policies.
mod caller;
mod hint;
mod name;
mod permission;

// Decisions.
mod decision;

// What a rule matches.
mod glob;
mod lexical;
mod plain;

mod text;

mod argument;
mod bounds;
mod matcher;
mod subject;

mod rule;

// How rules are combined, and how that is explained.
mod question;

mod evaluate;

mod alternatives;
mod dead_rule;
mod explain;

// What an approval covers.
mod pattern;

// Rules that do not protect the path they name.
mod rule_gap;

// Limits and bindings.
pub mod limits;

mod address;
mod amount;
mod binding;
mod clock;
mod destination;
mod home;
mod host_pattern;
mod instance;
mod leniency;
mod limit;
mod mask;
mod pointer;

mod approvals;
mod own_confinement;
mod record_keeping;

// The places that a call names.
mod targets;

// How the text is parsed, and its errors.
mod error;
mod excerpt;
mod file;
mod layer;
mod pause;
mod policy_size;
mod suggestion;

mod key_references;

mod combine;

// MCP servers.
mod server;

// How often and how many at a time.
mod client_rate;
mod rate_limit;

// Named groups of tools, and who is offered them.
mod toolset;
mod toolset_layers;

// The policy itself.
mod parts;
mod policy;

pub use address::{AddressError, AddressRange, is_global};
pub use alternatives::{ALTERNATIVE_BYTES, ALTERNATIVES_MAX};
pub use amount::AmountError;
pub use approvals::{Approvals, Unattended};
pub use argument::{ARGUMENT_KEY_BYTES, ArgumentKey, ArgumentKeyError};
pub use binding::{
    Access, Binding, BindingError, ConfinementTier, DefaultMask, DependencyKind, DirectoryBinding, Escalation,
    ExampleBlank, GrantPlaceKind, HttpBinding, HttpLimits, HttpRefusal, KindPermissions, LoginClient, PATH_BYTES,
    ProcessBinding, ProcessLimits, ProcessNetwork, SecretBinding, SecretSlot, SecretSource, ServerAddress,
    ServerAddressError, ServerLogin, ServerPackage, ServerProgram, ServiceBinding, StoreBinding, StoreScope,
    TOOLS_DEPTH_CEILING, ToolsBinding, Unnamed, is_reserved_header, is_same_header,
};
pub use bounds::BoundsError;
pub use caller::{Caller, Origin, OriginError, PRINCIPAL_NAME_BYTES, PRINCIPAL_NAMES, Principal, PrincipalError};
pub use client_rate::ClientRate;
pub use clock::ClockResolution;
pub use dead_rule::{DeadRateLimit, DeadReason, DeadRule, KnownTool};
pub use decision::{Decision, DecisionError, RuleId, Source, Verdict};
pub use destination::{Destination, DestinationError, Host, Scheme, URL_BYTES};
pub use error::{LayerError, PolicyError, PolicyFault};
pub use explain::{Explanation, MatchedRule};
pub use file::POLICY_ERRORS_MAX;
pub use glob::{EXPANDED_TOKENS, Glob, GlobError, PATTERN_CHARACTERS};
pub use hint::{Hint, HintError};
pub use home::below_home;
pub use host_pattern::{HostError, HostPattern};
pub use instance::InstanceLifetime;
pub use layer::{Layer, Layers, Trust};
pub use leniency::Leniency;
pub use limit::Limit;
pub use limits::Limits;
pub use mask::{MASKS_MAX, Mask, MaskError, MaskTrail, Masks};
pub use matcher::When;
pub use name::{DependencyKey, LocalName, NAME_BYTES, NameError, PluginName, ToolName, ToolsetName};
pub use own_confinement::OwnConfinement;
pub use parts::{PluginParts, PolicyParts};
pub use pattern::{
    EXACT_BYTES, OFFERS_MAX, PATTERN_ARGUMENTS, PROPOSALS_MAX, Pattern, PatternError, RESOURCE_PATH_BYTES, Variation,
};
pub use pause::Pause;
pub use permission::{Permission, PermissionError, Permissions};
pub use pointer::{Pointer, PointerError};
pub use policy::{Policy, RESOURCE_BYTES};
pub use policy_size::{POLICY_BYTES, POLICY_RULES};
pub use question::{Question, ResourceQuestion};
pub use rate_limit::{
    CONCURRENT_CALLS_MAX, CallRate, CountedPer, RATE_CALLS_MAX, RATE_LIMITS_MAX, RateLimit, RateLimitPlace, RatePeriod,
};
pub use record_keeping::{Durability, Payloads, RecordKeeping, TargetKeeping};
pub use rule::{REASON_BYTES, Rule, ToolPattern, ToolPatternError};
pub use rule_gap::RuleGap;
pub use server::{ServerOffers, ServerPolicy, ServerQuestions};
pub use targets::{TARGET_BYTES, TARGETS_MAX, Targets};
pub use text::{LiteralError, MATCHED_TEXT_BYTES};
pub use toolset::{
    ALL_TOOLS, Audience, READ_ONLY_TOOLS, TOOLSET_OFFERS, TOOLSET_PATTERNS, TOOLSETS_MAX, ToolSelection, Toolsets,
    UnknownToolset,
};
