//! Version 0.1 of the contract: its bindings, and the translation between them and the types of this crate.

use self::bindings::portcullis::tool::{context as calls, dependencies, types};
use crate::{
    Blob, Call, Context, Definition, Dependency, DependencyKind, Directory, Failure, Hint, Manifest, Output, Part,
    Permission, Plugin, Progress, Success,
};

/// What `wit-bindgen` makes of `wit/`.
#[expect(missing_docs, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "plugin",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "portcullis_sdk::guest::v0_1::bindings",
    });
}

/// The handle behind a directory.
pub type Handle = bindings::wasi::filesystem::types::Descriptor;

/// The host of this call.
#[derive(Debug)]
pub(crate) struct Host;

impl Host {
    pub(crate) fn call(&self) -> Call {
        let calls::Call { id, session, message, agent } = calls::current();
        Call { id, session, message, agent }
    }

    pub(crate) fn report(&self, progress: Progress) {
        let Progress { title, metadata, fraction } = progress;
        calls::report(&calls::Progress { title, metadata: metadata.map(|value| value.to_string()), fraction });
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        calls::is_cancelled()
    }

    pub(crate) fn ask(&self, permission: Permission, resource: &str, reason: &str) -> Result<(), String> {
        calls::ask(permission.name(), resource, reason)
    }

    pub(crate) fn directory(&self, key: &str) -> Result<Directory, Failure> {
        use dependencies::Unavailable;
        match dependencies::open_directory(key) {
            Ok(handle) => Ok(Directory::new(format!("/{key}"), handle)),
            Err(Unavailable::UnknownKey) => Err(Failure::failed(format!("the manifest does not ask for `{key}`"))),
            Err(Unavailable::WrongKind) => Err(Failure::failed(format!("`{key}` is no directory"))),
            Err(Unavailable::NotGranted) => {
                Err(Failure::denied(format!("the policy grants no directory `{key}` to this tool")))
            }
            Err(Unavailable::Failed) => Err(Failure::unavailable(format!("the directory `{key}` could not be opened"))),
        }
    }
}

/// The export `describe`.
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

/// The export `execute-raw`.
///
/// # Errors
/// The tool failed.
pub fn execute(plugin: &Plugin, tool: &str, arguments: &str) -> Result<types::Success, types::Failure> {
    plugin.execute(tool, arguments, &Context::new(Host)).map(success).map_err(failure)
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

fn blob(blob: Blob) -> types::Blob {
    types::Blob { media_type: blob.media_type, data: blob.data }
}

fn failure(failure: Failure) -> types::Failure {
    match failure {
        Failure::InvalidArguments(text) => types::Failure::InvalidArguments(text),
        Failure::Denied(text) => types::Failure::Denied(text),
        Failure::Unavailable(text) => types::Failure::Unavailable(text),
        Failure::Cancelled => types::Failure::Cancelled,
        Failure::Failed(text) => types::Failure::Failed(text),
    }
}
