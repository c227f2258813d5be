//! Version 0.2 of the contract: its bindings, and the translation between them and the types of this crate.

mod client;
mod errors;
mod exchange;
mod generated;
mod host;
mod program;
mod store;
mod text;
mod toolset;
mod wait;

pub use self::generated::{atomics, bindings, generating, preparing, previewing, reviewing};

pub(crate) use self::client::Client;
pub(crate) use self::exchange::Body;
pub use self::host::Handle;
pub(crate) use self::host::{Host, Service};
pub(crate) use self::program::{InputPipe, OutputPipe, Program, Running};
pub(crate) use self::store::Bucket;
pub(crate) use self::text::Text;
pub(crate) use self::toolset::Toolset;

use self::bindings::portcullis::tool::types;
use self::host::blob;
use self::preparing::exports::portcullis::tool::preparer as offers;
use self::previewing::exports::portcullis::tool::previewer as claims;
use crate::{
    ApprovalRequest, Availability, Caller, Context, Definition, Dependency, DependencyKind, Failure, FileChange,
    GeneratedTool, Hint, Manifest, Output, Part, Pattern, Permission, Plugin, Preparation, Success, Variation, Verdict,
};

/// Implements the export `describe`.
#[must_use]
pub fn describe(plugin: &Plugin) -> types::Manifest {
    let Manifest { name, version, description, tools, dependencies } = plugin.manifest();
    types::Manifest {
        name: name.to_owned(),
        version: version.to_owned(),
        description: description.to_owned(),
        tools: tools.into_iter().map(definition).collect(),
        dependencies: dependencies.iter().map(dependency).collect(),
    }
}

/// Implements the export `execute-raw`.
///
/// # Errors
/// The tool failed.
pub fn execute(plugin: &Plugin, tool: &str, arguments: &str) -> Result<types::Success, types::Failure> {
    let host = Host::of(tool);
    plugin.execute(tool, arguments, &Context::new(host)).map(success).map_err(failure)
}

/// Implements the export `review`.
#[must_use]
pub fn review(plugin: &Plugin, tool: &str, arguments: &str) -> types::Verdict {
    match plugin.review(tool, arguments, &Host::of(tool)) {
        Verdict::Clear => types::Verdict::Clear,
        Verdict::Ask(text) => types::Verdict::Ask(text),
        Verdict::Refuse(text) => types::Verdict::Refuse(text),
        Verdict::Request(request) => types::Verdict::Request(approval_request(request)),
    }
}

fn approval_request(ApprovalRequest { reason, patterns }: ApprovalRequest) -> types::ApprovalRequest {
    let variation = |Variation { argument, within }| types::Variation { argument, within };
    let pattern = |Pattern { variations }| variations.into_iter().map(variation).collect();
    types::ApprovalRequest { reason, patterns: patterns.into_iter().map(pattern).collect() }
}

/// Implements the export `preview`.
///
/// # Errors
/// The plugin cannot compute what would change.
pub fn preview(plugin: &Plugin, tool: &str, arguments: &str) -> Result<Vec<claims::FileChange>, types::Failure> {
    let context = Context::new(Host::of(tool));
    let claim = |FileChange { directory, path, content }| claims::FileChange { directory, path, content };
    let changes = plugin.preview(tool, arguments, &context).map_err(failure)?;
    Ok(changes.into_iter().map(claim).collect())
}

/// Implements the export `generate`.
///
/// # Errors
/// The plugin cannot make its tools.
pub fn generate(plugin: &Plugin) -> Result<Vec<types::Definition>, String> {
    let context = Context::new(Host::of(""));
    let tools = plugin.generate(&context).map_err(|failure| failure.to_string())?;
    Ok(tools.into_iter().map(generated).collect())
}

/// Implements the export `prepare`.
#[must_use]
pub fn prepare(plugin: &Plugin, caller: offers::Caller) -> Vec<offers::Preparation> {
    let offers::Caller { session, principal, client, model, automated } = caller;
    let caller = Caller { session, principal, client, model, automated };
    let context = Context::new(Host::of(""));
    let prepared = plugin.prepare(&caller, &context).into_iter();
    prepared
        .map(|Preparation { tool, availability }| offers::Preparation { tool, availability: offered(availability) })
        .collect()
}

fn offered(availability: Availability) -> offers::Availability {
    match availability {
        Availability::Hidden(reason) => offers::Availability::Hidden(reason),
        Availability::Narrowed { description, schema } => {
            let schema = schema.map(|schema| schema.to_string());
            offers::Availability::Narrowed(offers::Narrowing { description, schema })
        }
    }
}

fn generated(tool: GeneratedTool) -> types::Definition {
    types::Definition {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        schema: tool.schema.to_string(),
        output_schema: tool.output_schema.map(|schema| schema.to_string()),
        required: permissions(&tool.required),
        optional: permissions(&tool.optional),
        hints: hints(&tool.hints),
    }
}

fn definition(definition: Definition) -> types::Definition {
    types::Definition {
        name: definition.name.to_owned(),
        title: definition.title.map(str::to_owned),
        description: definition.description.to_owned(),
        schema: definition.schema.to_string(),
        output_schema: definition.output_schema.map(|schema| schema.to_string()),
        required: permissions(definition.required),
        optional: permissions(definition.optional),
        hints: hints(definition.hints),
    }
}

fn permissions(permissions: &[Permission]) -> types::Permissions {
    permissions.iter().fold(types::Permissions::empty(), |set, permission| {
        set | match permission {
            Permission::Read => types::Permissions::READ,
            Permission::Write => types::Permissions::WRITE,
            Permission::Execute => types::Permissions::EXECUTE,
            Permission::Network => types::Permissions::NETWORK,
        }
    })
}

fn hints(hints: &[Hint]) -> types::Hints {
    hints.iter().fold(types::Hints::empty(), |set, hint| {
        set | match hint {
            Hint::ReadOnly => types::Hints::READ_ONLY,
            Hint::Destructive => types::Hints::DESTRUCTIVE,
            Hint::Idempotent => types::Hints::IDEMPOTENT,
            Hint::OpenWorld => types::Hints::OPEN_WORLD,
            Hint::Sequential => types::Hints::SEQUENTIAL,
        }
    })
}

fn dependency(dependency: &Dependency) -> types::Dependency {
    types::Dependency {
        key: dependency.key.to_owned(),
        kind: match dependency.kind {
            DependencyKind::Directory => types::DependencyKind::Directory,
            DependencyKind::Http => types::DependencyKind::Http,
            DependencyKind::Store => types::DependencyKind::Store,
            DependencyKind::Service => types::DependencyKind::Service,
            DependencyKind::Process => types::DependencyKind::Process,
            DependencyKind::Tools => types::DependencyKind::Tools,
        },
        optional: dependency.optional,
        reason: dependency.reason.to_owned(),
    }
}

fn success(success: Success) -> types::Success {
    types::Success {
        title: success.title,
        output: match success.output {
            Output::Text(text) => types::Output::Text(text),
            Output::Json(value) => types::Output::Json(value.to_string()),
            Output::Parts(parts) => types::Output::Parts(parts.into_iter().map(part).collect()),
        },
        metadata: success.metadata.map(|value| value.to_string()),
    }
}

fn part(part: Part) -> types::Part {
    match part {
        Part::Text(text) => types::Part::Text(text),
        Part::Image(content) => types::Part::Image(blob(content)),
        Part::File(content) => types::Part::File(blob(content)),
    }
}

fn failure(failure: Failure) -> types::Failure {
    match failure {
        Failure::InvalidArguments(text) => types::Failure::InvalidArguments(text),
        Failure::Denied(text) => types::Failure::Denied(text),
        Failure::Unavailable(message) => {
            types::Failure::Unavailable(types::Outage { message, retry_after_seconds: None })
        }
        Failure::Cancelled => types::Failure::Cancelled,
        Failure::Failed(text) => types::Failure::Failed(text),
    }
}
