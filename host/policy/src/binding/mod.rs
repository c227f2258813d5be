//! What a policy binds to a plugin's dependency keys: directories, HTTP clients, stores and services.
//!
//! A binding only names things. It says where the host finds a secret, but never holds one. This module must not know
//! how a name becomes a handle.

mod default_mask;
mod describe;
mod directory;
mod error;
mod http;
mod http_limits;
mod limited;
mod limits;
mod secret;
mod service;
mod store;

pub use default_mask::DefaultMask;
pub use directory::{Access, DirectoryBinding};
pub use error::BindingError;
pub use http::{HttpBinding, HttpRefusal, Unnamed};
pub use http_limits::HttpLimits;
pub use limits::PATH_BYTES;
pub use secret::{SecretBinding, SecretSlot, SecretSource};
pub use service::ServiceBinding;
pub use store::{StoreBinding, StoreScope};

pub(crate) use directory::{read_mask, read_path};
pub(crate) use http::{read_header, read_method, read_path_prefix};
pub(crate) use http_limits::HttpLimit;
pub(crate) use limited::{BindingLimit, Limited};
pub(crate) use secret::{read_command, read_query_name, read_source, read_template, read_user};
pub(crate) use service::{CALLS_CEILING, read_service_name};
pub(crate) use store::StoreLimit;

pub use http::{is_reserved_header, is_same_header};

use crate::pointer::Pointer;

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
}

impl Binding {
    /// Returns the argument that a call's handle is narrowed to.
    pub fn narrow(&self) -> Option<&Pointer> {
        match self {
            Self::Directory(directory) => directory.narrow.as_ref(),
            Self::Http(http) => http.narrow.as_ref(),
            Self::Store(_) | Self::Service(_) => None,
        }
    }
}
