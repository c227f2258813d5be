//! TLS to what the operator names: a database, or a store of outputs.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// Returns what checks the certificate of a server: the authorities in a file, or those that browsers trust.
///
/// # Errors
/// The file cannot be read, or has no certificate. The text says why.
#[expect(clippy::disallowed_methods, reason = "the path comes from the person who starts the host")]
pub(crate) fn client(authorities: Option<&Path>) -> Result<ClientConfig, String> {
    let why = |error: &dyn Display| error.to_string();
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(file) => {
            let text = std::fs::read(file).map_err(|error| why(&error))?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                roots.add(certificate.map_err(|error| why(&error))?).map_err(|error| why(&error))?;
            }
            // Without an authority, each connection would fail with an error that does not name the file.
            if roots.is_empty() {
                return Err("the file has no certificate".to_owned());
            }
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    // Name the provider. Otherwise, rustls uses the default of the process, which belongs to the embedder.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(config.map_err(|error| why(&error))?.with_root_certificates(roots).with_no_client_auth())
}
