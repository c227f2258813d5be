//! Describes a binding in one line, for people.
//!
//! The user decides by this line whether to trust a policy. So it names everything that is granted, and escapes
//! characters that are invisible.

use super::limited::Limited;
use super::service::CALLS;
use super::{
    Binding, DirectoryBinding, HttpBinding, SecretBinding, SecretSlot, SecretSource, ServiceBinding, StoreBinding,
    StoreScope, Unnamed,
};
use crate::destination::Scheme;
use crate::mask::Mask;
use crate::pointer::Pointer;

impl Binding {
    /// Returns the binding in one line: everything that it grants, and the source of a secret, never the secret itself.
    pub fn describe(&self) -> String {
        let parts = match self {
            Self::Directory(directory) => of_directory(directory),
            Self::Http(http) => of_http(http),
            Self::Store(store) => of_store(store),
            Self::Service(service) => of_service(service),
        };
        parts.join(", ")
    }
}

fn of_directory(directory: &DirectoryBinding) -> Vec<String> {
    let mut parts = vec![format!("the directory {}", plain(&directory.path)), directory.access.to_string()];
    parts.extend(directory.narrow.as_ref().map(of_narrow));
    parts.extend(directory.describe_masks());
    parts
}

impl DirectoryBinding {
    /// Describes the masks that the policy sets and lifts, with one text for each kind.
    pub fn describe_masks(&self) -> Vec<String> {
        let masks = |masks: &[Mask]| masks.iter().map(|mask| plain(mask.as_str())).collect::<Vec<_>>().join(" ");
        let mut parts = Vec::new();
        if !self.hidden.is_empty() {
            parts.push(format!("hiding {}", masks(&self.hidden)));
        }
        if !self.read_only.is_empty() {
            parts.push(format!("protecting {}", masks(&self.read_only)));
        }
        if !self.writable.is_empty() {
            parts.push(format!("not protecting {}", list(&self.writable)));
        }
        parts
    }
}

fn of_narrow(narrow: &Pointer) -> String {
    format!("narrowed to the argument {} of each call", plain(&narrow.to_string()))
}

fn of_http(http: &HttpBinding) -> Vec<String> {
    let methods = http.methods.join(" ");
    let mut parts = match (&http.hosts[..], http.unnamed) {
        ([], Unnamed::Deny) => vec![format!("{methods} to no host")],
        ([], Unnamed::Ask) => vec![format!("{methods} to any host that a person approves for a call")],
        (hosts, unnamed) => {
            let others = matches!(unnamed, Unnamed::Ask).then(|| "to any other that a person approves for a call");
            let hosts = format!("{methods} to {}", list(hosts));
            [hosts].into_iter().chain(others.map(str::to_owned)).collect()
        }
    };
    if http.schemes != [Scheme::Https] {
        parts.push(format!("over {}", list(&http.schemes)));
    }
    if http.ports != [443] {
        parts.push(format!("ports {}", list(&http.ports)));
    }
    if !http.paths.is_empty() {
        let paths: Vec<String> = http.paths.iter().map(|path| plain(path)).collect();
        parts.push(format!("paths {}", paths.join(" ")));
    }
    if let Some(headers) = &http.headers {
        parts.push(format!("headers {}", if headers.is_empty() { "none".to_owned() } else { headers.join(" ") }));
    }
    if !http.addresses.is_empty() {
        parts.push(format!("also at the addresses {}", list(&http.addresses)));
    }
    parts.extend(http.roots.as_ref().map(|roots| format!("trusting only the certificates in {}", plain(roots))));
    parts.extend(http.narrow.as_ref().map(of_narrow));
    parts.extend(http.limits.changed());
    parts.extend(http.secret.as_ref().map(of_secret));
    parts
}

fn of_secret(secret: &SecretBinding) -> String {
    let from = match &secret.from {
        SecretSource::Env(name) => format!("the variable {}", plain(name)),
        SecretSource::File(path) => format!("the file {}", plain(path)),
        SecretSource::Command(words) => {
            let words: Vec<String> = words.iter().map(|word| plain(word)).collect();
            format!("the command {}", words.join(" "))
        }
    };
    let slot = match &secret.slot {
        SecretSlot::Header { name, .. } => format!("in the header {}", plain(name)),
        SecretSlot::Basic { user } => format!("as the password of the user {}", plain(user)),
        SecretSlot::Query { name } => format!("in the parameter {}", plain(name)),
    };
    format!("with the secret from {from} {slot} for {}", secret.host)
}

fn of_store(store: &StoreBinding) -> Vec<String> {
    let scope = match store.scope {
        StoreScope::Plugin => "a store of the plugin",
        StoreScope::Principal => "a store for each principal",
        StoreScope::Session => "a store for each session",
    };
    [scope.to_owned()].into_iter().chain(store.changed()).collect()
}

fn of_service(service: &ServiceBinding) -> Vec<String> {
    let mut parts = vec![format!("the service {}", plain(&service.name))];
    if !service.methods.is_empty() {
        let methods: Vec<String> = service.methods.iter().map(|method| plain(method)).collect();
        parts.push(format!("methods {}", methods.join(" ")));
    }
    if service.calls != CALLS {
        parts.push(format!("calls {}", service.calls));
    }
    parts
}

fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(" ")
}

/// Returns the text unchanged if it is unambiguous, and otherwise escaped in quotes. It is never shortened.
fn plain(text: &str) -> String {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'`,\\".contains(&byte));
    if bare { text.to_owned() } else { format!("\"{}\"", text.escape_debug()) }
}
