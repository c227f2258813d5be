//! The section `[network]`.
//!
//! This file must not know how a name is resolved.

use std::net::{IpAddr, SocketAddr};

use super::faults::Misplaced;
use super::node::TomlNode;
use crate::binding::BindingError;

/// Maximum name servers. A resolver waits for each of them in turn, so more would take too long.
const NAME_SERVERS: usize = 8;
/// The default port of a name server.
const NAME_SERVER_PORT: u16 = 53;

/// Parses the section and returns its name servers.
pub(super) fn read(section: &TomlNode<'_>) -> Result<Option<Vec<SocketAddr>>, Misplaced> {
    let section = section.table(&["name-servers"])?;
    Ok(section.read("name-servers", read_name_servers))
}

fn read_name_servers(node: &TomlNode<'_>) -> Result<Vec<SocketAddr>, Misplaced> {
    let servers = node.list()?;
    if servers.len() > NAME_SERVERS {
        return Err(node.fail(BindingError::NameServers));
    }
    Ok(node.each(&servers, read_name_server))
}

/// Parses an address with an optional port, which must not be 0.
fn read_name_server(node: &TomlNode<'_>) -> Result<SocketAddr, Misplaced> {
    let text = node.text()?;
    let alone = text.parse::<IpAddr>().map(|address| SocketAddr::new(address, NAME_SERVER_PORT));
    let server = alone.or_else(|_| text.parse::<SocketAddr>()).ok();
    server.filter(|server| server.port() != 0).ok_or_else(|| node.fail(BindingError::NameServer))
}
