//! Valid and invalid certificates.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::sync::Arc;

/// A certificate authority.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Creates an authority with this name.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// Returns the authority's certificate as PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Returns the TLS configuration of a server with a certificate for these names and addresses.
    pub fn serves(&self, names: &[&str]) -> ServerConfig {
        self.serves_with(names, |_| ())
    }

    /// The same with an expired certificate.
    pub fn served(&self, names: &[&str]) -> ServerConfig {
        self.serves_with(names, |params| params.not_after = date_time_ymd(2020, 1, 1))
    }

    /// The same with a certificate that is not yet valid.
    pub fn will_serve(&self, names: &[&str]) -> ServerConfig {
        self.serves_with(names, |params| params.not_before = date_time_ymd(2090, 1, 1))
    }

    /// Returns the TLS configuration of a server with a self-signed certificate.
    pub fn nobody_serves(names: &[&str]) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let certificate = params(names).self_signed(&key).unwrap();
        config(vec![certificate.der().clone()], &key)
    }

    fn serves_with(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = params(names);
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        config(vec![certificate.der().clone(), self.issuer.der().clone()], &key)
    }
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).unwrap()
}

/// Offers both HTTP versions.
fn config(chain: Vec<CertificateDer<'static>>, key: &KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    builder.with_no_client_auth().with_single_cert(chain, key).unwrap()
}
