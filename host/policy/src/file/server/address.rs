//! The section of a server that is reached over HTTP.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::super::faults::Misplaced;
use super::super::node::{TomlNode, TomlTable};
use super::super::plugin;
use crate::binding::{
    self, HttpBinding, HttpLimits, LoginClient, SERVER_SCOPES, ServerAddress, ServerAddressError, ServerLogin, Unnamed,
};
use crate::destination::{Destination, Scheme};
use crate::host_pattern::HostPattern;

/// The keys of a section with `url`.
pub(super) const KEYS: [&str; 12] = [
    "url",
    "oauth",
    "secret",
    "headers",
    "addresses",
    "roots",
    "permissions",
    "tool",
    "elicitation",
    "resources",
    "prompts",
    "limits",
];

/// The methods of Streamable HTTP: a message, a stream of messages, and the end of a session.
const METHODS: [&str; 3] = ["POST", "GET", "DELETE"];

/// Parses the client through which the host reaches the server.
pub(super) fn read(table: &TomlTable<'_, '_>, url: &TomlNode<'_>) -> Result<HttpBinding, Misplaced> {
    let destination = Destination::from_url(url.text()?).map_err(|_| url.fail(ServerAddressError::Url))?;
    let host = HostPattern::new(&destination.host().to_string()).map_err(|_| url.fail(ServerAddressError::Url))?;
    let scheme = destination.scheme();
    let mut client = HttpBinding {
        schemes: vec![scheme],
        hosts: vec![host],
        unnamed: Unnamed::Deny,
        ports: vec![destination.port()],
        methods: METHODS.map(str::to_owned).to_vec(),
        paths: vec![destination.path().to_owned()],
        headers: None,
        addresses: table.read("addresses", plugin::read_addresses).unwrap_or_default(),
        roots: table.read("roots", plugin::read_roots),
        secret: None,
        narrow: None,
        limits: HttpLimits::of_server(),
        server: Some(Box::new(ServerAddress {
            url: destination,
            headers: table.read("headers", read_headers).unwrap_or_default(),
            login: table.read("oauth", read_login).flatten(),
        })),
    };
    if scheme == Scheme::Http && !client.hosts.iter().all(|host| client.reaches_only_private(host)) {
        return Err(url.fail(ServerAddressError::InClear));
    }
    if let Some(secret) = table.get("secret") {
        client.secret = secret.keep(plugin::read_secret(secret, &client));
        // `oauth = false` is the default, and contradicts no secret.
        if table.get("oauth").is_some_and(|oauth| !matches!(oauth.value(), DeValue::Boolean(false))) {
            return Err(secret.fail(ServerAddressError::Credentials));
        }
    }
    Ok(client)
}

/// Parses the headers that every request gets.
fn read_headers(node: &TomlNode<'_>) -> Result<BTreeMap<String, String>, Misplaced> {
    let headers = plugin::read_named(node, ServerAddressError::Headers, binding::read_server_header, |value| {
        binding::read_header_value(value.text()?).map_err(|fault| value.fail(fault))
    })?;
    Ok(headers.into_iter().collect())
}

/// Parses `oauth`: whether the host logs in, or a table with what the server cannot say.
fn read_login(node: &TomlNode<'_>) -> Result<Option<ServerLogin>, Misplaced> {
    if let DeValue::Boolean(logs_in) = node.value() {
        return Ok(logs_in.then(ServerLogin::default));
    }
    let table = node.closed_table(&["client-id", "client-secret", "scopes", "port"])?;
    let secret = table.get("client-secret").map(|node| {
        let source = binding::read_source(node.text()?);
        source.map_err(|fault| node.fail(fault))
    });
    let id = table.get("client-id").map(|node| binding::read_client_id(node.text()?).map_err(|fault| node.fail(fault)));
    let client = match (id.transpose()?, secret.transpose()?) {
        (Some(id), secret) => Some(LoginClient { id, secret }),
        (None, None) => None,
        (None, Some(_)) => return Err(node.fail(ServerAddressError::ClientSecret)),
    };
    let scopes = table.get("scopes").map(|node| {
        let scopes = node.list()?;
        if scopes.len() > SERVER_SCOPES {
            return Err(node.fail(ServerAddressError::Scopes));
        }
        Ok(node.each(&scopes, |scope| binding::read_scope(scope.text()?).map_err(|fault| scope.fail(fault))))
    });
    let port = table.get("port").map(plugin::read_port).transpose()?;
    Ok(Some(ServerLogin { client, scopes: scopes.transpose()?.unwrap_or_default(), port }))
}
