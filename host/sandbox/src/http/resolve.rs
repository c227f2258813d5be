//! Turns a name into addresses, by asking name servers ourselves.
//!
//! The operating system is not asked: it would consult files, search domains and caches that nobody checked. Each
//! look-up has a resolver of its own, so that calls share no cache and learn nothing of each other.

use super::error::Failure;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RecordType};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// How long one question to one name server may take. Much shorter than a request, so that another one can be asked.
const QUESTION_TIME: Duration = Duration::from_secs(2);
/// How often a question is asked again when no answer comes.
const RETRIES: usize = 2;
/// How long all questions of one look-up may take. Hickory follows at most 8 aliases, each within its own time.
const LOOK_UP_TIME: Duration = Duration::from_secs(10);
/// How many addresses a name may have: more than any service has, fewer than an answer can hold.
const ADDRESSES_MAX: usize = 64;

/// Whom to ask.
#[derive(Debug)]
pub(super) struct NameServers(Vec<SocketAddr>);

impl NameServers {
    /// These, or those of the system where there are none.
    pub(super) fn new(servers: &[SocketAddr]) -> Self {
        Self(servers.to_vec())
    }

    /// All addresses of a name, IPv4 first: there are machines with IPv6 addresses and no way out.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Failure> {
        tokio::time::timeout(LOOK_UP_TIME, self.look_up(name)).await.unwrap_or(Err(Failure::NameTimeout))
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Failure> {
        let resolver = self.resolver().map_err(failed)?;
        let mut name = Name::from_ascii(name).map_err(|_| Failure::NoAddress)?;
        // Whole, so that nothing is appended to it.
        name.set_fqdn(true);
        let (four, six) =
            tokio::join!(resolver.lookup(name.clone(), RecordType::A), resolver.lookup(name.clone(), RecordType::AAAA));
        let four = addresses(four);
        let six = addresses(six);
        let found = match (four, six) {
            (Ok(four), Ok(six)) => [four, six].concat(),
            // Some name servers do not answer what they do not know; what was answered is checked all the same.
            (Ok(some), Err(_)) | (Err(_), Ok(some)) if !some.is_empty() => some,
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        match found.len() {
            0 => Err(Failure::NoAddress),
            1..=ADDRESSES_MAX => Ok(found),
            _ => Err(Failure::Names("the name has too many addresses".to_owned())),
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
        // Against forged answers: a forger has to guess the case of each letter as well.
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

fn addresses(found: Result<Lookup, NetError>) -> Result<Vec<IpAddr>, Failure> {
    match found {
        Ok(lookup) => Ok(lookup.answers().iter().filter_map(|record| record.data.ip_addr()).collect()),
        Err(error) if error.is_no_records_found() => Ok(Vec::new()),
        Err(error) => Err(failed(error)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` calls")]
fn failed(error: NetError) -> Failure {
    match error {
        NetError::Timeout => Failure::NameTimeout,
        // Its text may repeat what a name server wrote.
        _ => Failure::Names("no name server gave an answer".to_owned()),
    }
}
