//! The address for operators of a server: metrics and probes.

use crate::arguments::HttpArguments;
use crate::metrics::{self, CONTENT_TYPE, families};
use portcullis::Host;
use portcullis_mcp::http::{OperationsOptions, Reach, Running};
use std::net::SocketAddr;

/// Returns the options of the address that the command line asks for.
pub(super) fn options(
    address: SocketAddr,
    arguments: &HttpArguments,
    host: &Host,
    running: &Running,
) -> OperationsOptions {
    let (host, counters) = (host.clone(), running.counters());
    let write = move || {
        let (host, counters) = (host.clone(), counters.clone());
        Box::pin(async move { metrics::text(families(&host.metrics().await, Some(&counters))) }) as _
    };
    OperationsOptions::new(address, CONTENT_TYPE, write)
        .reach(if arguments.allow_remote { Reach::Remote } else { Reach::Loopback })
        .hosts(arguments.allow_host.clone())
}
