//! The public keys of an authorization server, each good for its own algorithms only.
//!
//! A key is bound to what it verifies when it is read, so no header of a token can have a key used in another way:
//! there is no shared secret among them, and none is made of a public key.

use crate::http::error::SettingError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use std::fmt;

/// The most keys of a set. A server has two or three: this year's, and last year's.
pub(super) const KEYS_MAX: usize = 32;

/// What a token may be signed with. Nothing without a signature and nothing with a shared secret is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Algorithm {
    /// RSA with SHA-256, as PKCS #1 1.5.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSA with SHA-256, as PSS.
    #[serde(rename = "PS256")]
    Ps256,
    /// The curve P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// The curve P-384 with SHA-384.
    #[serde(rename = "ES384")]
    Es384,
    /// Ed25519.
    #[serde(rename = "EdDSA", alias = "Ed25519")]
    EdDsa,
}

/// The keys that can be used.
pub(super) struct Keys(Vec<Key>);

struct Key {
    id: Option<String>,
    /// The one algorithm that the set says it is for.
    only: Option<Algorithm>,
    material: Material,
}

enum Material {
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// A point of a curve, which is good for one algorithm.
    Point(UnparsedPublicKey<Vec<u8>>, Algorithm),
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<WrittenKey>,
}

/// A key as RFC 7517 writes it.
#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Keys {
    /// Reads a key set. Keys for something else are left out.
    pub(super) fn parse(text: &[u8]) -> Result<Self, SettingError> {
        let set: KeySet = serde_json::from_slice(text).map_err(|_| SettingError::KeySet)?;
        if set.keys.len() > KEYS_MAX {
            return Err(SettingError::TooManyKeys(KEYS_MAX));
        }
        let keys: Vec<Key> = set.keys.into_iter().filter_map(WrittenKey::usable).collect();
        if keys.is_empty() { Err(SettingError::NoKey) } else { Ok(Self(keys)) }
    }

    /// Whether one of the keys made a signature: the one of that name, or any where the token names none.
    pub(super) fn verify(&self, name: Option<&str>, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let named = |key: &&Key| name.is_none_or(|name| key.id.as_deref() == Some(name));
        self.0.iter().filter(named).any(|key| key.verify(algorithm, message, signature))
    }
}

impl Key {
    fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if self.only.is_some_and(|only| only != algorithm) {
            return false;
        }
        match (&self.material, algorithm) {
            (Material::Rsa(key), Algorithm::Rs256) => {
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            (Material::Rsa(key), Algorithm::Ps256) => key.verify(&RSA_PSS_2048_8192_SHA256, message, signature).is_ok(),
            (Material::Point(key, own), algorithm) => *own == algorithm && key.verify(message, signature).is_ok(),
            (Material::Rsa(_), Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa) => false,
        }
    }
}

impl WrittenKey {
    fn usable(self) -> Option<Key> {
        let signs = self.purpose.as_deref().is_none_or(|purpose| purpose == "sig");
        let verifies = self.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|name| name == "verify"));
        let only = match &self.alg {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let material = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (number(self.n.as_deref())?, number(self.e.as_deref())?);
                Material::Rsa(RsaPublicKeyComponents { n, e })
            }
            ("EC", Some("P-256")) => {
                let point = self.point(32)?;
                Material::Point(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point), Algorithm::Es256)
            }
            ("EC", Some("P-384")) => {
                let point = self.point(48)?;
                Material::Point(UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point), Algorithm::Es384)
            }
            ("OKP", Some("Ed25519")) => {
                let point = bytes(self.x.as_deref()).filter(|bytes| bytes.len() == 32)?;
                Material::Point(UnparsedPublicKey::new(&ED25519, point), Algorithm::EdDsa)
            }
            _ => return None,
        };
        (signs && verifies).then_some(Key { id: self.kid, only, material })
    }

    /// A point of a curve, uncompressed, of two numbers of `length` bytes.
    fn point(&self, length: usize) -> Option<Vec<u8>> {
        let (x, y) = (bytes(self.x.as_deref())?, bytes(self.y.as_deref())?);
        (x.len() == length && y.len() == length).then(|| [&[4][..], &x, &y].concat())
    }
}

impl Algorithm {
    /// The algorithm of that name, where it is one of these.
    pub(super) fn named(name: &str) -> Option<Self> {
        use serde::de::IntoDeserializer;
        use serde::de::value::{Error, StrDeserializer};
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        Self::deserialize(name).ok()
    }
}

fn bytes(text: Option<&str>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text?).ok()
}

/// A number as ring takes it: without zeros before it.
fn number(text: Option<&str>) -> Option<Vec<u8>> {
    let bytes = bytes(text)?;
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    Some(bytes.get(zeros..)?.to_vec())
}

impl fmt::Debug for Keys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(|key| &key.id)).finish()
    }
}
