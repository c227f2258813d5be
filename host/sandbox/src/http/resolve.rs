//! Resolves a name to addresses by querying name servers directly.
//!
//! It does not use the resolver of the operating system, which would consult files, search domains and caches. Each
//! lookup has its own resolver, so that calls share no cache and learn nothing about each other. One call caches its
//! addresses (`addresses`). They are still checked at each use.

use super::error::HttpFailure;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RecordType};
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

/// Timeout of one query to one name server. It is much shorter than that of a request, so that another server can be
/// tried.
const QUESTION_TIME: Duration = Duration::from_secs(2);
/// Maximum retries of a query without an answer.
const RETRIES: usize = 2;
/// How long a lookup that has IPv4 addresses waits for the IPv6 addresses: the resolution delay of RFC 8305. Some name
/// servers never answer a query for IPv6.
const IPV6_DELAY: Duration = Duration::from_millis(50);
/// How long a lookup that has IPv6 addresses waits for the IPv4 addresses. It is longer, because a machine without a
/// route for IPv6 needs them.
const IPV4_DELAY: Duration = Duration::from_secs(1);
/// Timeout of all queries of a lookup. Hickory follows at most 8 aliases, each with its own timeout.
const LOOK_UP_TIME: Duration = Duration::from_secs(10);
/// Maximum addresses of a name: more than any service has, and fewer than fit into an answer.
const ADDRESSES_MAX: usize = 64;

/// The name servers to query.
#[derive(Debug)]
pub(super) struct NameServers(Vec<SocketAddr>);

impl NameServers {
    /// Uses these servers, or those of the system if there are none.
    pub(super) fn new(servers: &[SocketAddr]) -> Self {
        Self(servers.to_vec())
    }

    /// Returns all addresses of a name. IPv4 comes first, because some machines have IPv6 addresses but no IPv6 route.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, HttpFailure> {
        tokio::time::timeout(LOOK_UP_TIME, self.look_up(name)).await.unwrap_or(Err(HttpFailure::NameTimeout))
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, HttpFailure> {
        let resolver = self.resolver().map_err(failed)?;
        let mut name = Name::from_ascii(name).map_err(|_| HttpFailure::NoAddress)?;
        // Fully qualified, so that no search domain is appended.
        name.set_fqdn(true);
        let four = async { addresses(resolver.lookup(name.clone(), RecordType::A).await) };
        let six = async { addresses(resolver.lookup(name.clone(), RecordType::AAAA).await) };
        let found = match both(four, six).await {
            (Ok(four), Ok(six)) => [four, six].concat(),
            // Some name servers do not answer queries for a record type that they do not know. One answer is enough,
            // and its addresses are checked in any case.
            (Ok(some), Err(_)) | (Err(_), Ok(some)) if !some.is_empty() => some,
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        match found.len() {
            0 => Err(HttpFailure::NoAddress),
            1..=ADDRESSES_MAX => Ok(found),
            _ => Err(HttpFailure::Names("the name has too many addresses".to_owned())),
        }
    }

    fn resolver(&self) -> Result<TokioResolver, NetError> {
        let servers = if self.0.is_empty() {
            let (system, _) = hickory_resolver::system_conf::read_system_conf()?;
            system.into_parts().2
        } else {
            self.0.iter().copied().map(name_server).collect()
        };
        let config = ResolverConfig::from_parts(None, Vec::new(), servers);
        let mut options = ResolverOpts::default();
        options.timeout = QUESTION_TIME;
        options.attempts = RETRIES;
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        // Makes answers harder to forge: an attacker must also guess the case of each letter.
        options.case_randomization = true;
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        builder.with_options(options).build()
    }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = address.port();
        connection
    });
    NameServerConfig::new(address.ip(), true, connections.into())
}

/// The result of one query.
type FoundAddresses = Result<Vec<IpAddr>, HttpFailure>;

/// Runs both queries concurrently. Once one has returned addresses, the other has until its delay, and then counts as
/// having returned none.
async fn both(
    four: impl Future<Output = FoundAddresses>,
    six: impl Future<Output = FoundAddresses>,
) -> (FoundAddresses, FoundAddresses) {
    let (mut four, mut six) = (pin!(four), pin!(six));
    tokio::select! {
        found = &mut four => {
            let other = second(&found, six, IPV6_DELAY).await;
            (found, other)
        }
        found = &mut six => {
            let other = second(&found, four, IPV4_DELAY).await;
            (other, found)
        }
    }
}

async fn second(
    first: &FoundAddresses,
    other: impl Future<Output = FoundAddresses>,
    delay: Duration,
) -> FoundAddresses {
    match first {
        Ok(found) if !found.is_empty() => tokio::time::timeout(delay, other).await.unwrap_or(Ok(Vec::new())),
        Ok(_) | Err(_) => other.await,
    }
}

fn addresses(found: Result<Lookup, NetError>) -> Result<Vec<IpAddr>, HttpFailure> {
    match found {
        Ok(lookup) => Ok(lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect()),
        Err(error) if error.is_no_records_found() => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` calls")]
fn failed(error: NetError) -> HttpFailure {
    match error {
        NetError::Timeout => HttpFailure::NameTimeout,
        // The error's own text is left out, because it may quote a name server.
        _ => HttpFailure::Names("no name server gave a usable answer".to_owned()),
    }
}
