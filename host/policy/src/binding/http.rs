//! What a policy binds to an HTTP key, and which requests that covers.
//!
//! This file must not know how a request is sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::describe::{list, of_narrow, plain};
use super::http_headers::{is_reserved_header, is_same_header, must_be_listed};
use super::kind::{BindingKind, KindFacts, KindPermissions};
use super::limited::Limited;
use super::place::GrantPlaceKind;
use super::{BindingError, HttpLimits, SecretBinding, ServerAddress};
use crate::address::{AddressRange, is_global};
use crate::destination::{Destination, Host, Scheme, hides_a_separator, is_plain_path};
use crate::excerpt::Excerpt;
use crate::host_pattern::HostPattern;
use crate::permission::Permission;
use crate::pointer::Pointer;

/// What is true of every HTTP client.
pub(super) const FACTS: KindFacts = KindFacts {
    name: "http",
    noun: "the HTTP client",
    permissions: Some(KindPermissions {
        any_of: &[Permission::Network],
        written: "`network`",
        undeclared: "the tool does not declare network",
    }),
    blank: "HOST",
    example: |host, _| format!("{{ hosts = [\"{host}\"] }}"),
};

/// Maximum bytes of a method name: longer than any registered one.
const METHOD_BYTES: usize = 64;

/// The method that makes a tunnel. Only the proxy of a program takes it.
const TUNNEL: &str = "CONNECT";

/// A method that makes a server echo the secrets of a request.
const REFUSED_METHOD: &str = "TRACE";

/// An HTTP client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpBinding {
    /// The schemes. The default is https.
    pub schemes: Vec<Scheme>,
    /// The hosts that it reaches. It can be empty only if unnamed hosts need approval.
    pub hosts: Vec<HostPattern>,
    /// What happens to a request to any other host.
    pub unnamed: Unnamed,
    /// The ports. The default is 443.
    pub ports: Vec<u16>,
    /// The methods, in upper case. It is never empty.
    pub methods: Vec<String>,
    /// Path prefixes, each of whole segments. If it is empty, all paths are allowed.
    pub paths: Vec<String>,
    /// The headers a guest may set, in lower case. `None` permits every header that the host does not keep for itself
    /// and that need not be listed.
    pub headers: Option<Vec<String>>,
    /// Addresses that are not global, but that connections may use.
    pub addresses: Vec<AddressRange>,
    /// A file with the trusted root certificates, which replace the built-in ones.
    pub roots: Option<String>,
    /// The secret that the host adds to its requests.
    pub secret: Option<SecretBinding>,
    /// The argument whose URL the handle is narrowed to.
    pub narrow: Option<Pointer>,
    /// The limits.
    pub limits: HttpLimits,
    /// Set if the host itself uses the client, for an MCP server. A plugin cannot use such a client.
    pub server: Option<Box<ServerAddress>>,
}

/// What happens to a request to a host that the policy does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unnamed {
    /// It is refused.
    #[default]
    Deny,
    /// A call may reach it after an approval, which may also cover other calls with the same path or host. The client
    /// must be narrowed to an argument.
    Ask,
}

impl Unnamed {
    /// Both values, in display order.
    pub(crate) const ALL: [Self; 2] = [Self::Deny, Self::Ask];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

/// Why the client does not send a request. The text is for the model and the audit log, so text from the guest is
/// escaped and shortened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpRefusal {
    /// The scheme is not granted.
    #[error("the policy grants no {0} requests")]
    Scheme(Scheme),
    /// The host is not granted.
    #[error("the policy does not name the host {0}")]
    Host(String),
    /// The port is not granted.
    #[error("the policy grants no port {0}")]
    Port(u16),
    /// The method is not granted.
    #[error("the policy grants no {0} requests")]
    Method(String),
    /// The path is not granted.
    #[error("the policy grants no path {0}")]
    Path(String),
}

impl HttpBinding {
    /// Returns whether the policy names the host. It does not check the scheme, port and path.
    pub fn names(&self, destination: &Destination) -> bool {
        let host = destination.host().to_string();
        self.hosts.iter().any(|pattern| pattern.matches(&host))
    }

    /// Describes the binding, without its kind.
    pub fn described(&self) -> String {
        self.describe().join(", ")
    }

    /// Checks whether a request may be sent. It ignores `unnamed`, because only the caller knows what an approver has
    /// approved.
    ///
    /// # Errors
    ///
    /// The part of the request that is not granted.
    pub fn covers(&self, method: &str, destination: &Destination) -> Result<(), HttpRefusal> {
        if !self.names(destination) {
            return Err(HttpRefusal::Host(destination.host().to_string()));
        }
        self.covers_unnamed(method, destination)
    }

    /// Checks a request to a host that need not be named, because an approval covers this call.
    ///
    /// # Errors
    ///
    /// The part of the request that is not granted.
    pub fn covers_unnamed(&self, method: &str, destination: &Destination) -> Result<(), HttpRefusal> {
        if !self.schemes.contains(&destination.scheme()) {
            return Err(HttpRefusal::Scheme(destination.scheme()));
        }
        if !self.ports.contains(&destination.port()) {
            return Err(HttpRefusal::Port(destination.port()));
        }
        if !self.methods.iter().any(|granted| granted == method) {
            return Err(HttpRefusal::Method(Excerpt::of(method).to_string()));
        }
        let path = destination.path();
        let below = |prefix: &String| is_below(path, prefix) && !hides_a_separator(path);
        if !self.paths.is_empty() && !self.paths.iter().any(below) {
            return Err(HttpRefusal::Path(Excerpt::of(path).to_string()));
        }
        Ok(())
    }

    /// Returns whether a connection for `host` may go to `address`. Permitted are global addresses, those in
    /// `addresses`, and for its own host an address that `hosts` names. If a secret is sent unencrypted, global
    /// addresses are not permitted.
    pub fn permits(&self, host: &Host, address: IpAddr) -> bool {
        let in_clear = self.sends_secret_in_clear();
        let written = |pattern: &HostPattern| pattern.host().as_ref() == Some(host);
        let named = *host == Host::Address(address) && self.hosts.iter().any(written);
        named || self.addresses.iter().any(|range| range.contains(address)) || (is_global(address) && !in_clear)
    }

    /// Returns whether the policy permits any address of `host`. It answers without a DNS lookup, and returns true if
    /// only a lookup can tell.
    pub fn may_permit(&self, host: &Host) -> bool {
        match host {
            Host::Address(address) => self.permits(host, *address),
            Host::Name(name) if is_loopback_name(name) => {
                [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]
                    .into_iter()
                    .any(|address| self.permits(host, address))
            }
            // A secret over an unencrypted connection may go only to the listed addresses.
            Host::Name(_) => !self.sends_secret_in_clear() || !self.addresses.is_empty(),
        }
    }

    /// Returns whether the programs of this client may open tunnels. The host cannot read what goes through them.
    pub fn opens_tunnels(&self) -> bool {
        self.methods.iter().any(|method| method == TUNNEL)
    }

    /// Checks that no tunnel hides what the client limits.
    pub(crate) fn check_tunnels(&self) -> Result<(), BindingError> {
        let hidden = !self.paths.is_empty() || self.headers.is_some() || self.roots.is_some();
        if self.opens_tunnels() && hidden { Err(BindingError::TunnelHides) } else { Ok(()) }
    }

    /// Returns whether requests with credentials for a host can go only to private addresses.
    pub(crate) fn reaches_only_private(&self, host: &HostPattern) -> bool {
        match host.host() {
            Some(Host::Address(address)) => !is_global(address),
            // The client then connects only to these addresses.
            Some(Host::Name(_)) | None => {
                !self.addresses.is_empty() && self.addresses.iter().all(AddressRange::is_private)
            }
        }
    }

    /// Returns whether requests carry credentials over unencrypted connections. A server gets a token, too.
    fn sends_secret_in_clear(&self) -> bool {
        (self.secret.is_some() || self.server.is_some()) && self.schemes.contains(&Scheme::Http)
    }

    /// Returns whether a guest may set a header. A guest can never set a header that the host keeps for itself, or the
    /// header of the secret, in any spelling that a server may read as that header.
    pub fn allows_header(&self, name: &str) -> bool {
        let of_secret = self.secret.as_ref().and_then(|secret| secret.slot.header());
        let listed = match &self.headers {
            Some(headers) => headers.iter().any(|header| header == name),
            None => !must_be_listed(name),
        };
        listed && !of_secret.is_some_and(|header| is_same_header(header, name)) && !is_reserved_header(name)
    }
}

impl BindingKind for HttpBinding {
    fn describe(&self) -> Vec<String> {
        let mut parts = match &self.server {
            Some(server) => server.describe(),
            None => self.describe_reach(),
        };
        if !self.addresses.is_empty() {
            parts.push(format!("also at the addresses {}", list(&self.addresses)));
        }
        parts.extend(
            self.opens_tunnels().then(|| "programs encrypt, so the host does not see what they send".to_owned()),
        );
        parts.extend(self.roots.as_ref().map(|roots| format!("trusting only the certificates in {}", plain(roots))));
        parts.extend(self.narrow.as_ref().map(of_narrow));
        if self.server.is_none() {
            parts.extend(self.limits.changed());
        }
        parts.extend(self.secret.as_ref().map(SecretBinding::describe));
        parts
    }

    fn narrow(&self) -> Option<&Pointer> {
        self.narrow.as_ref()
    }

    fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        let roots = self.roots.as_deref().map(|roots| (GrantPlaceKind::Roots, roots));
        let secret = self.secret.as_ref().and_then(SecretBinding::place);
        let client = self.server.as_ref().and_then(|server| server.place());
        roots.into_iter().chain(secret).chain(client).collect()
    }
}

impl HttpBinding {
    /// Describes the requests that a plugin can make.
    fn describe_reach(&self) -> Vec<String> {
        let methods = self.methods.join(" ");
        let mut parts = match (&self.hosts[..], self.unnamed) {
            ([], Unnamed::Deny) => vec![format!("{methods} to no host")],
            ([], Unnamed::Ask) => vec![format!("{methods} to any host that a person approves for a call")],
            (hosts, unnamed) => {
                let others = matches!(unnamed, Unnamed::Ask).then(|| "to any other that a person approves for a call");
                let hosts = format!("{methods} to {}", list(hosts));
                [hosts].into_iter().chain(others.map(str::to_owned)).collect()
            }
        };
        if self.schemes != [Scheme::Https] {
            parts.push(format!("over {}", list(&self.schemes)));
        }
        if self.ports != [443] {
            parts.push(format!("ports {}", list(&self.ports)));
        }
        if !self.paths.is_empty() {
            let paths: Vec<String> = self.paths.iter().map(|path| plain(path)).collect();
            parts.push(format!("paths {}", paths.join(" ")));
        }
        if let Some(headers) = &self.headers {
            parts.push(format!("headers {}", if headers.is_empty() { "none".to_owned() } else { headers.join(" ") }));
        }
        parts
    }
}

impl SecretBinding {
    /// Checks the secret against its client.
    pub(crate) fn check(&self, client: &HttpBinding) -> Result<(), BindingError> {
        let exact = matches!(self.host, HostPattern::Exact(_));
        if !exact || !client.hosts.contains(&self.host) {
            return Err(BindingError::SecretHost);
        }
        let [scheme] = client.schemes[..] else { return Err(BindingError::SecretOrigins) };
        if client.ports.len() != 1 {
            return Err(BindingError::SecretOrigins);
        }
        let granted = client.headers.iter().flatten().any(|header| Some(header.as_str()) == self.slot.header());
        if granted {
            return Err(BindingError::SecretHeaderGranted);
        }
        let private = client.reaches_only_private(&self.host);
        if scheme == Scheme::Http && !private { Err(BindingError::SecretInClear) } else { Ok(()) }
    }
}

/// Returns whether a name resolves to the machine itself (RFC 6761 section 6.3).
fn is_loopback_name(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns whether `path` is the prefix itself or continues it with a new segment.
fn is_below(path: &str, prefix: &str) -> bool {
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub(crate) fn read_method(text: &str) -> Result<String, BindingError> {
    let spelt = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    let sound = (1..=METHOD_BYTES).contains(&text.len()) && spelt && !text.starts_with('-');
    if sound && text != REFUSED_METHOD { Ok(text.to_owned()) } else { Err(BindingError::Method) }
}

pub(crate) fn read_path_prefix(text: &str) -> Result<String, BindingError> {
    if !text.is_empty() && is_plain_path(text) { Ok(text.to_owned()) } else { Err(BindingError::PathPrefix) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_parts_of_a_client_are_refused() {
        for text in ["", "get", "Get", "GET ", "*", "GET,POST", "TRACE", "-", "G\r\nX"] {
            assert_eq!(read_method(text), Err(BindingError::Method), "{text:?}");
        }
        for text in ["", "api", "//api", "/a/../b", "/a?b", "/a#b", "/a b", "/a%2fb", "/%2e", "/a\\b", "/é", "/%"] {
            assert_eq!(read_path_prefix(text), Err(BindingError::PathPrefix), "{text:?}");
        }
    }

    #[test]
    fn a_prefix_ends_at_a_segment() {
        let rows = [
            ("/api", "/api", true),
            ("/api", "/api/", true),
            ("/api", "/api/x", true),
            ("/api", "/apix", false),
            ("/api", "/api;x", false),
            ("/api", "/API", false),
            ("/api", "/", false),
            ("/api", "/x/api", false),
            ("/api/", "/api", true),
            ("/api/", "/api/x", true),
            ("/api/", "/apix", false),
            ("/", "/", true),
            ("/", "/anything/at/all", true),
            ("/a/b", "/a", false),
            ("/a/b", "/a/b/c", true),
        ];
        for (prefix, path, expected) in rows {
            assert_eq!(is_below(path, prefix), expected, "{prefix} on {path}");
        }
    }

    #[test]
    fn a_host_without_a_permitted_address_is_known_before_a_look_up() {
        let text =
            |more: &str| format!("[plugin.p]\nhttp.k = {{ hosts = [\"a.test\"], schemes = [\"http\"]{more} }}\n");
        let may = |more: &str, host: &str| {
            let policy = crate::Policy::parse(&text(more)).unwrap_or_else(|error| panic!("{more}: {error}"));
            let crate::Binding::Http(binding) = policy.bindings(&"p".parse().unwrap()).values().next().unwrap().clone()
            else {
                panic!("no client")
            };
            binding.may_permit(Destination::from_url(&format!("http://{host}/")).unwrap().host())
        };
        let loopback = ", addresses = [\"127.0.0.0/8\"]";
        for (more, host, expected) in [
            ("", "b.test", true),
            ("", "8.8.8.8", true),
            ("", "10.0.0.1", false),
            ("", "localhost", false),
            ("", "a.localhost", false),
            ("", "notlocalhost", true),
            (loopback, "localhost", true),
            (loopback, "127.0.0.1", true),
            (loopback, "[::1]", false),
        ] {
            assert_eq!(may(more, host), expected, "{more} {host}");
        }
    }
}
