//! Parses the address of a database, and decides how the connection is encrypted.

use crate::ledger::error::LedgerError;
use crate::state_directory::PostgresAddress;
use crate::tls;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// The option that names a file with certificate authorities, as libpq calls it.
const ROOT_CERTIFICATES: &str = "sslrootcert";

/// The option that decides about encryption, as libpq calls it.
const ENCRYPTION: &str = "sslmode";

/// The port of PostgreSQL, where an address names none.
const USUAL_PORT: u16 = 5432;

/// How long a connection may take to be made. Two hosts in one region need a few milliseconds.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// After how long without traffic the system asks whether the other side is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);

/// How long sent data may stay unacknowledged until the connection is lost.
const UNACKNOWLEDGED_TIME: Duration = Duration::from_secs(15);

/// Settings of each connection: the schema of the ledger, and limits in milliseconds, so that a host that stops in the
/// middle of a change does not stop the others.
const SETTINGS: &str = "-c search_path=portcullis -c statement_timeout=10000 -c lock_timeout=10000 \
                        -c idle_in_transaction_session_timeout=60000 -c synchronous_commit=on";

/// A parsed address.
pub(super) struct Target {
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    /// The address without the password.
    pub(super) place: String,
    /// The ports of the database.
    pub(super) ports: Vec<u16>,
}

/// Parses an address. Without `sslmode`, a connection that leaves the machine is encrypted.
pub(super) fn parse(address: &PostgresAddress) -> Result<Target, LedgerError> {
    let wrong = |why: &dyn std::fmt::Display| LedgerError::Address(why.to_string());
    let Options { text, authorities, says_mode } = options_of(address.text())?;
    // The error of the parser does not repeat the address.
    let mut config = Config::from_str(&text).map_err(|error| wrong(&super::fault::said(&error)))?;
    if config.get_dbname().is_none() {
        return Err(wrong(&"it names no database: write postgres://USER@HOST/DATABASE"));
    }
    // The addresses of an option `hostaddr` count instead of the names.
    let is_local = config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    if !says_mode && !is_local {
        config.ssl_mode(SslMode::Require);
    }
    // The last of two values of a setting counts, so an address cannot change those of the host.
    let options = config.get_options().map_or_else(|| SETTINGS.to_owned(), |own| format!("{own} {SETTINGS}"));
    config
        .options(options)
        .application_name("portcullis")
        .connect_timeout(CONNECT_TIME)
        .keepalives(true)
        .keepalives_idle(KEEPALIVE_IDLE)
        .tcp_user_timeout(UNACKNOWLEDGED_TIME);
    let (tls, place) = (connector(authorities.as_deref())?, place(&config));
    let ports = endpoints(&config).filter(|(host, _)| matches!(host, Host::Tcp(_))).map(|(_, port)| port).collect();
    Ok(Target { config, tls, place, ports })
}

/// The options of an address that are read here.
struct Options {
    /// The address without `sslrootcert`, which the parser does not know.
    text: String,
    authorities: Option<String>,
    /// Whether it says how the connection is encrypted.
    says_mode: bool,
}

fn options_of(text: &str) -> Result<Options, LedgerError> {
    let (before, query) = text.split_once('?').unwrap_or((text, ""));
    let (mut kept, mut authorities, mut says_mode) = (Vec::new(), None, false);
    for option in query.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some((ROOT_CERTIFICATES, file)) => authorities = Some(decoded(file)?),
            named => {
                says_mode |= named.is_some_and(|(name, _)| name == ENCRYPTION);
                kept.push(option);
            }
        }
    }
    let question = if kept.is_empty() { "" } else { "?" };
    Ok(Options { text: format!("{before}{question}{}", kept.join("&")), authorities, says_mode })
}

/// Decodes the `%` sequences of an option.
fn decoded(text: &str) -> Result<String, LedgerError> {
    let wrong = || LedgerError::Address(format!("{ROOT_CERTIFICATES} has a wrong % sequence"));
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Returns whether a connection to a host stays on this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
    }
}

/// Returns what checks the certificate of the server: the given authorities, or those that browsers trust.
fn connector(authorities: Option<&str>) -> Result<MakeRustlsConnect, LedgerError> {
    let config = tls::client(authorities.map(Path::new));
    let config = config.map_err(|why| LedgerError::Address(format!("{ROOT_CERTIFICATES}: {why}")))?;
    Ok(MakeRustlsConnect::new(config))
}

/// Returns what connections are made to, with the ports. An address of the option `hostaddr` takes the place of a host,
/// also of a socket. One port may be given for all.
fn endpoints(config: &Config) -> impl Iterator<Item = (Host, u16)> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let port = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(USUAL_PORT);
    (0..hosts.len().max(addresses.len())).filter_map(move |index| {
        let address = addresses.get(index).map(|address| Host::Tcp(address.to_string()));
        Some((address.or_else(|| hosts.get(index).cloned())?, port(index)))
    })
}

/// Returns the address for messages.
fn place(config: &Config) -> String {
    let hosts = endpoints(config).map(|(host, port)| match host {
        // The colons of an IPv6 address are not to be taken for that of the port.
        Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
        Host::Tcp(name) => format!("{name}:{port}"),
        Host::Unix(path) => path.display().to_string(),
    });
    format!("postgres://{}/{}", hosts.collect::<Vec<_>>().join(","), config.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Result<Target, LedgerError> {
        parse(&PostgresAddress::new(text.to_owned()))
    }

    #[test]
    fn a_connection_that_leaves_the_machine_is_encrypted_unless_the_address_says_otherwise() {
        for (text, mode) in [
            ("postgres://u@db.example/ledger", SslMode::Require),
            ("postgres://u@10.0.0.5/ledger", SslMode::Require),
            ("postgres://u@localhost,db.example/ledger", SslMode::Require),
            ("postgres://u:sslmode=disable@db.example/ledger", SslMode::Require),
            ("postgres://u@db.example/sslmode", SslMode::Require),
            ("postgres://u@localhost/ledger?hostaddr=10.0.0.5", SslMode::Require),
            ("postgres://u@db.example/ledger?sslmode=disable", SslMode::Disable),
            ("postgres://u@127.0.0.1/ledger", SslMode::Prefer),
            ("postgres://u@%2Frun%2Fpostgresql/ledger", SslMode::Prefer),
        ] {
            assert_eq!(target(text).unwrap().config.get_ssl_mode(), mode, "{text}");
        }
    }

    #[test]
    fn messages_name_the_place_without_the_password() {
        let target = target("postgres://alice:secret@db.example:6000/ledger").unwrap();
        assert_eq!((target.place.as_str(), target.ports), ("postgres://db.example:6000/ledger", vec![6000]));
    }

    #[test]
    fn the_place_and_the_ports_are_those_that_connections_are_made_to() {
        for (text, place, ports) in [
            ("postgres://u@/l?hostaddr=10.0.0.5", "postgres://10.0.0.5:5432/l", &[5432][..]),
            (
                "postgres://u@/l?hostaddr=10.0.0.5,::1&port=6000,6001",
                "postgres://10.0.0.5:6000,[::1]:6001/l",
                &[6000, 6001],
            ),
            ("postgres://u@db.example:6000/l?hostaddr=10.0.0.5", "postgres://10.0.0.5:6000/l", &[6000]),
            ("postgres://u@%2Frun%2Fpostgresql/l?hostaddr=10.0.0.5", "postgres://10.0.0.5:5432/l", &[5432]),
            ("postgres://u@%2Frun%2Fpostgresql/l", "postgres:///run/postgresql/l", &[]),
            ("postgres://u@a.example,b.example/l", "postgres://a.example:5432,b.example:5432/l", &[5432, 5432]),
        ] {
            let target = target(text).unwrap();
            assert_eq!((target.place.as_str(), target.ports.as_slice()), (place, ports), "{text}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_without_repeating_it() {
        for text in ["postgres://u:secret@db.example", "postgres://u:secret@db.example/l?ssl=yes", "postgres://%"] {
            let error = target(text).err().unwrap().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        let error = target("postgres://u@h/l?sslrootcert=/nowhere%2Fca.pem&sslmode=require").err().unwrap();
        assert!(error.to_string().contains("sslrootcert"), "{error}");
    }
}
