//! What a policy binds to a plugin's dependency keys: directories, HTTP clients, stores, services, programs and tools
//! of other plugins.
//!
//! A binding only names things. It says where the host finds a secret, but never holds one. This module must not know
//! how a name becomes a handle.
//!
//! Each kind is a file, which implements [`BindingKind`]. Only this file and the parser of policies name all kinds.

mod access;
mod default_mask;
mod describe;
mod directory;
mod error;
mod http;
mod http_headers;
mod http_limits;
mod kind;
mod limited;
mod limits;
mod place;
mod process;
mod process_limits;
mod secret;
mod server_address;
mod server_address_error;
mod service;
mod store;
mod tools;

pub use access::Access;
pub use default_mask::DefaultMask;
pub use directory::DirectoryBinding;
pub use error::BindingError;
pub use http::{HttpBinding, HttpRefusal, Unnamed};
pub use http_headers::{is_reserved_header, is_same_header};
pub use http_limits::HttpLimits;
pub use kind::KindPermissions;
pub use limits::PATH_BYTES;
pub use place::GrantPlaceKind;
pub use process::{ConfinementTier, Escalation, ProcessBinding, ProcessNetwork, ServerPackage, ServerProgram};
pub use process_limits::ProcessLimits;
pub use secret::{SecretBinding, SecretSlot, SecretSource};
pub use server_address::{LoginClient, ServerAddress, ServerLogin};
pub use server_address_error::ServerAddressError;
pub use service::ServiceBinding;
pub use store::{StoreBinding, StoreScope};
pub use tools::{TOOLS_DEPTH_CEILING, ToolsBinding};

pub(crate) use directory::{read_mask, read_path};
pub(crate) use http::{read_method, read_path_prefix};
pub(crate) use http_headers::read_header;
pub(crate) use http_limits::HttpLimit;
pub(crate) use limited::{BindingLimit, Limited};
pub(crate) use limits::{ENVIRONMENT_ENTRIES, PROGRAM_DIRECTORIES, SERVER_SCOPES, TOOL_PATTERNS};
pub(crate) use process::{read_environment_name, read_environment_value, read_package, read_program};
pub(crate) use process_limits::ProcessLimit;
pub(crate) use secret::{read_query_name, read_source, read_template, read_user, read_words};
pub(crate) use server_address::{read_client_id, read_header_value, read_scope, read_server_header};
pub(crate) use service::{CALLS_CEILING, read_service_name};
pub(crate) use store::StoreLimit;
pub(crate) use tools::ToolsLimit;

use crate::permission::Permissions;
use crate::pointer::Pointer;
use kind::{BindingKind, KindFacts};
use serde::{Deserialize, Serialize};

/// The kind of a handle: what a plugin asks for under a key, and what a policy binds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyKind {
    /// A directory.
    Directory,
    /// An HTTP client.
    Http,
    /// A key-value store.
    Store,
    /// A service of the embedding application.
    Service,
    /// A program of the system.
    Process,
    /// Tools of other plugins.
    Tools,
}

/// The text in an example in place of a value that the user must fill in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleBlank {
    /// A word in capitals, such as `PATH`.
    Word,
    /// Three dots.
    Dots,
}

impl DependencyKind {
    /// Every kind, in display order.
    pub const ALL: [Self; 6] = [Self::Directory, Self::Http, Self::Store, Self::Service, Self::Process, Self::Tools];

    /// Returns the word that manifests and policies use.
    pub fn as_str(self) -> &'static str {
        self.facts().name
    }

    /// Returns what messages call a handle of this kind, with its article, such as `the directory`.
    pub fn noun(self) -> &'static str {
        self.facts().noun
    }

    /// Returns the permissions that reach handles of this kind, or `None` if every tool reaches them.
    pub fn permissions(self) -> Option<KindPermissions> {
        self.facts().permissions
    }

    /// Returns whether permissions reach handles of this kind.
    pub fn is_reached_by(self, permissions: Permissions) -> bool {
        self.permissions().is_none_or(|needed| needed.any_of.iter().any(|one| permissions.contains(*one)))
    }

    /// Returns the line of a policy that binds a key of this kind. `access` is for a directory.
    pub fn example(self, key: &str, access: Access, blank: ExampleBlank) -> String {
        let facts = self.facts();
        let blank = match blank {
            ExampleBlank::Word => facts.blank,
            ExampleBlank::Dots => "...",
        };
        format!("{}.{key} = {}", facts.name, (facts.example)(blank, access))
    }

    fn facts(self) -> &'static KindFacts {
        match self {
            Self::Directory => &directory::FACTS,
            Self::Http => &http::FACTS,
            Self::Store => &store::FACTS,
            Self::Service => &service::FACTS,
            Self::Process => &process::FACTS,
            Self::Tools => &tools::FACTS,
        }
    }
}

/// What a policy binds to one key of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// A directory of the host.
    Directory(DirectoryBinding),
    /// An HTTP client that reaches some hosts.
    Http(Box<HttpBinding>),
    /// A key-value store.
    Store(StoreBinding),
    /// A service of the application that embeds the host.
    Service(ServiceBinding),
    /// A program of the system, which the system confines.
    Process(Box<ProcessBinding>),
    /// Tools of other plugins.
    Tools(ToolsBinding),
}

impl Binding {
    /// Returns the kind.
    pub fn kind(&self) -> DependencyKind {
        match self {
            Self::Directory(_) => DependencyKind::Directory,
            Self::Http(_) => DependencyKind::Http,
            Self::Store(_) => DependencyKind::Store,
            Self::Service(_) => DependencyKind::Service,
            Self::Process(_) => DependencyKind::Process,
            Self::Tools(_) => DependencyKind::Tools,
        }
    }

    /// Returns the binding in one line: everything that it grants, and the source of a secret, never the secret itself.
    pub fn describe(&self) -> String {
        self.as_kind().describe().join(", ")
    }

    /// Returns the argument that a call's handle is narrowed to.
    pub fn narrow(&self) -> Option<&Pointer> {
        self.as_kind().narrow()
    }

    /// Returns the paths that the binding leads to, as the policy spells them.
    pub fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        self.as_kind().places()
    }

    fn as_kind(&self) -> &dyn BindingKind {
        match self {
            Self::Directory(directory) => directory,
            Self::Http(http) => &**http,
            Self::Store(store) => store,
            Self::Service(service) => service,
            Self::Process(process) => &**process,
            Self::Tools(tools) => tools,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    #[test]
    fn the_example_of_each_kind_binds_a_key_of_that_kind() {
        for kind in DependencyKind::ALL {
            let line = kind.example("k", Access::ReadWrite, ExampleBlank::Word);
            let text = format!("[plugin.p]\n{}\n", line.replace("HOST", "a.example").replace("NAME", "name"));
            let policy = Policy::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let kinds: Vec<_> = policy.bindings(&"p".parse().unwrap()).values().map(Binding::kind).collect();
            assert_eq!(kinds, [kind]);
        }
    }

    #[test]
    fn manifests_and_policies_use_the_same_word_for_a_kind() {
        for kind in DependencyKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_kind_without_permissions_is_reached_by_every_tool() {
        for kind in DependencyKind::ALL {
            assert_eq!(kind.is_reached_by(Permissions::NONE), kind.permissions().is_none());
            for one in kind.permissions().iter().flat_map(|needed| needed.any_of) {
                assert!(kind.is_reached_by((*one).into()), "{kind:?} {one}");
            }
        }
    }
}
