//! The tables `http.KEY`.

use toml::de::DeValue;

use super::super::faults::Misplaced;
use super::super::node::{TomlNode, TomlTable};
use super::secret;
use super::value::{is_empty_list, part, parts, read_narrow, set_amount};
use crate::address::AddressRange;
use crate::binding::{self, BindingError, BindingLimit, HttpBinding, HttpLimit, HttpLimits, Limited, Unnamed};
use crate::destination::Scheme;
use crate::host_pattern::HostPattern;

/// The default port: that of https.
const PORT: u16 = 443;
/// The default method, which changes nothing.
const METHOD: &str = "GET";

/// The default methods of a server: a tunnel for https, and those of common APIs.
const SERVER_METHODS: [&str; 7] = ["CONNECT", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// The keys of the client of a server. A tunnel hides paths and headers, and the server has its secrets itself.
const SERVER_KEYS: [&str; 9] = [
    "hosts",
    "schemes",
    "ports",
    "methods",
    "request-bytes",
    "response-bytes",
    "requests",
    "requests-per-minute",
    "addresses",
];

/// The keys of an HTTP client.
const KEYS: [&str; 16] = [
    "hosts",
    "schemes",
    "ports",
    "methods",
    "paths",
    "headers",
    "request-bytes",
    "response-bytes",
    "requests",
    "requests-per-minute",
    "time",
    "addresses",
    "roots",
    "narrow",
    "unnamed",
    "secret",
];

pub(super) fn read(node: &TomlNode<'_>) -> Result<HttpBinding, Misplaced> {
    read_with(node, &KEYS, &[METHOD])
}

/// Parses the client of a server, which has no secret of its own and is the same for every call.
pub(in crate::file) fn read_for_server(node: &TomlNode<'_>) -> Result<HttpBinding, Misplaced> {
    read_with(node, &SERVER_KEYS, &SERVER_METHODS)
}

/// Parses a client with some of the keys, and with default methods.
fn read_with(node: &TomlNode<'_>, keys: &[&'static str], default: &[&str]) -> Result<HttpBinding, Misplaced> {
    let table = node.table(keys)?;
    let methods = table.read("methods", |node| parts(node, binding::read_method));
    let mut client = HttpBinding {
        schemes: table.read("schemes", read_schemes).unwrap_or_else(|| vec![Scheme::Https]),
        hosts: Vec::new(),
        unnamed: Unnamed::default(),
        ports: table.read("ports", read_ports).unwrap_or_else(|| vec![PORT]),
        methods: methods.unwrap_or_else(|| default.iter().map(|&method| method.to_owned()).collect()),
        paths: table.read("paths", |node| parts(node, binding::read_path_prefix)).unwrap_or_default(),
        headers: table.read("headers", read_headers),
        addresses: table.read("addresses", read_addresses).unwrap_or_default(),
        roots: table.read("roots", read_roots),
        secret: None,
        narrow: table.read("narrow", read_narrow),
        limits: read_limits(&table),
        server: None,
    };
    let hosts = if table.is_misspelt("hosts") { None } else { node.keep(read_hosts(&table, &mut client)) };
    // Only written methods can contradict the other keys: the default has no tunnel, or the other keys do not exist.
    if let Some(methods) = table.get("methods") {
        methods.keep(client.check_tunnels().map_err(|fault| methods.fail(fault)));
    }
    // Whether the secret fits depends on the hosts, so a fault of them is not reported twice.
    client.secret = hosts.and_then(|()| table.read("secret", |node| secret::read(node, &client)));
    Ok(client)
}

/// Parses `hosts` and `unnamed`. The list of hosts may be empty only if unnamed hosts need approval.
fn read_hosts(table: &TomlTable<'_, '_>, client: &mut HttpBinding) -> Result<(), Misplaced> {
    if let Some(node) = table.get("unnamed") {
        client.unnamed = node.word(&Unnamed::ALL, Unnamed::as_str)?;
        if client.unnamed == Unnamed::Ask && client.narrow.is_none() {
            return Err(node.fail(BindingError::UnnamedWide));
        }
    }
    let hosts = table.require("hosts")?;
    if client.unnamed == Unnamed::Ask && is_empty_list(hosts) {
        return Ok(());
    }
    let read = |node: &TomlNode<'_>| HostPattern::new(node.text()?).map_err(|fault| node.fail(fault));
    client.hosts = hosts.each(&hosts.list()?, read);
    Ok(())
}

fn read_schemes(node: &TomlNode<'_>) -> Result<Vec<Scheme>, Misplaced> {
    Ok(node.each(&node.list()?, |element| element.word(&Scheme::ALL, Scheme::as_str)))
}

fn read_ports(node: &TomlNode<'_>) -> Result<Vec<u16>, Misplaced> {
    Ok(node.each(&node.list()?, read_port))
}

pub(in crate::file) fn read_port(node: &TomlNode<'_>) -> Result<u16, Misplaced> {
    let port = match node.value() {
        DeValue::Integer(integer) => u16::from_str_radix(integer.as_str(), integer.radix()).ok(),
        DeValue::String(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    };
    port.filter(|port| *port != 0).ok_or_else(|| node.fail(BindingError::Port))
}

/// Parses the headers that a guest may set. An empty list permits none.
fn read_headers(node: &TomlNode<'_>) -> Result<Vec<String>, Misplaced> {
    if is_empty_list(node) { Ok(Vec::new()) } else { parts(node, binding::read_header) }
}

pub(in crate::file) fn read_addresses(node: &TomlNode<'_>) -> Result<Vec<AddressRange>, Misplaced> {
    let read = |node: &TomlNode<'_>| AddressRange::new(node.text()?).map_err(|fault| node.fail(fault));
    Ok(node.each(&node.list()?, read))
}

pub(in crate::file) fn read_roots(node: &TomlNode<'_>) -> Result<String, Misplaced> {
    part(node, binding::read_path)
}

fn read_limits(table: &TomlTable<'_, '_>) -> HttpLimits {
    let mut limits = HttpLimits::default();
    for &limit in HttpLimit::ALL {
        table.read(limit.key(), |node| set_amount(node, limit.unit(), |amount| limits.set(limit, amount)));
    }
    limits
}
