//! TLS with fixed roots: those compiled in, or those of the file that a grant names. Environment variables have no
//! effect.

use super::error::HttpFailure;
use super::socket::Socket;
use crate::base::PathBase;
use portcullis_policy::Host;
use rustix::fs::OFlags;
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Maximum size of a certificate file, in bytes: some hundred certificates.
const ROOTS_BYTES_MAX: u64 = 1024 * 1024;

/// The protocols that a client offers, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Returns a configuration that trusts the roots that are compiled in.
pub(super) fn built_in() -> Result<Arc<ClientConfig>, rustls::Error> {
    config(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
}

/// Returns a configuration that trusts only the certificates of one file.
pub(super) fn from_file(base: &PathBase, path: &str) -> Result<Arc<ClientConfig>, String> {
    let pem = read(base, path).map_err(|error| error.to_string())?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("the file contains no certificate".to_owned());
    }
    config(roots).map_err(|error| error.to_string())
}

fn read(base: &PathBase, path: &str) -> std::io::Result<Vec<u8>> {
    // Non-blocking, because opening a pipe would wait for its other end.
    let file = File::from(base.open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?);
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut pem = Vec::new();
    let read = file.take(ROOTS_BYTES_MAX + 1).read_to_end(&mut pem)? as u64;
    if read > ROOTS_BYTES_MAX { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(pem) }
}

fn config(roots: RootCertStore) -> Result<Arc<ClientConfig>, rustls::Error> {
    // Chosen explicitly, because an embedder may have changed the default provider of the process.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = PROTOCOLS.iter().map(|protocol| protocol.to_vec()).collect();
    // A resumed session would reveal to a server that two plugins, or two calls, are on one machine.
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Encrypts a connection to `host`. It requests and verifies the same name that was checked against the policy.
pub(super) async fn encrypt(
    config: &Arc<ClientConfig>,
    host: &Host,
    stream: Socket,
) -> Result<TlsStream<Socket>, HttpFailure> {
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.to_string())
            .map_err(|_| HttpFailure::Tls("the name cannot be in a certificate".into()))?,
        Host::Address(address) => ServerName::from(*address),
    };
    let connector = TlsConnector::from(Arc::clone(config));
    connector.connect(name, stream).await.map_err(|error| HttpFailure::from_tls(&error))
}
