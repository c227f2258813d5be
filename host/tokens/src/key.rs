//! One public key, bound to the algorithms that it is good for.
//!
//! The binding is made when the key is read. So no header of a token can have a key used in another way.

use crate::algorithm::Algorithm;
use crate::error::KeyProblem;
use crate::members::{WrongMember, required, text, texts};
use data_encoding::BASE64URL_NOPAD;
use ring::agreement::{self, ECDH_P256, ECDH_P384, EphemeralPrivateKey, agree_ephemeral};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Map, Value};

/// The smallest RSA modulus, in bits: RFC 7518, section 3.3.
const MODULUS_BITS_MIN: usize = 2048;
/// The largest RSA modulus, in bits. Verifying with a larger one takes milliseconds, which any sender of a token could
/// cause.
const MODULUS_BITS_MAX: usize = 8192;
/// The longest RSA exponent, in bits: what ring verifies with.
const EXPONENT_BITS_MAX: usize = 33;
/// The length of an Ed25519 public key, in bytes.
const ED25519_BYTES: usize = 32;

/// The members that only a private key has (RFC 7518, sections 6.2.2 and 6.3.2; RFC 8037, section 2).
const PRIVATE_MEMBERS: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "oth"];

/// A public key that verifies signatures.
pub(crate) struct VerifyingKey {
    pub(crate) id: Option<String>,
    /// The one algorithm that the set says the key is for.
    only: Option<Algorithm>,
    material: KeyMaterial,
}

enum KeyMaterial {
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    /// A point of a curve, which is good for one algorithm.
    Point(UnparsedPublicKey<Vec<u8>>, Algorithm),
}

impl VerifyingKey {
    /// Reads a key as RFC 7517 writes it.
    pub(crate) fn read(members: &Map<String, Value>) -> Result<Self, KeyProblem> {
        let id = text(members, "kid")?.map(str::to_owned);
        let material = KeyMaterial::read(members)?;
        is_for_signatures(members)?;
        let only = match text(members, "alg")? {
            // An unknown `alg` makes the key unusable. Ignoring it would use the key for more than its set allows.
            Some(name) => {
                Some(Algorithm::named(name).filter(|only| material.fits(*only)).ok_or(KeyProblem::Algorithm)?)
            }
            None => None,
        };
        Ok(Self { id, only, material })
    }

    /// Returns whether this key made a signature with an algorithm.
    pub(crate) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if self.only.is_some_and(|only| only != algorithm) {
            return false;
        }
        match (&self.material, algorithm) {
            (KeyMaterial::Rsa(key), Algorithm::Rs256) => {
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok()
            }
            (KeyMaterial::Rsa(key), Algorithm::Ps256) => {
                key.verify(&RSA_PSS_2048_8192_SHA256, message, signature).is_ok()
            }
            (KeyMaterial::Point(key, own), algorithm) => *own == algorithm && key.verify(message, signature).is_ok(),
            (KeyMaterial::Rsa(_), Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa) => false,
        }
    }
}

/// Returns whether a key has members that only its owner may know. A value of any type counts.
pub(crate) fn is_private(members: &Map<String, Value>) -> bool {
    PRIVATE_MEMBERS.iter().any(|name| members.contains_key(*name))
}

fn is_for_signatures(members: &Map<String, Value>) -> Result<(), KeyProblem> {
    // Both members are optional (RFC 7517, sections 4.2 and 4.3), and an absent one limits nothing.
    let signs = text(members, "use")?.is_none_or(|purpose| purpose == "sig");
    let verifies = texts(members, "key_ops")?.is_none_or(|operations| operations.contains(&"verify"));
    if signs && verifies { Ok(()) } else { Err(KeyProblem::Purpose) }
}

impl KeyMaterial {
    fn read(members: &Map<String, Value>) -> Result<Self, KeyProblem> {
        match (required(members, "kty")?, text(members, "crv")?) {
            ("RSA", _) => rsa(members),
            ("EC", Some("P-256")) => {
                let point = point(members, 32, &ECDH_P256)?;
                Ok(Self::Point(UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point), Algorithm::Es256))
            }
            ("EC", Some("P-384")) => {
                let point = point(members, 48, &ECDH_P384)?;
                Ok(Self::Point(UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point), Algorithm::Es384))
            }
            ("OKP", Some("Ed25519")) => {
                let point = bytes(members, "x")?;
                if point.len() != ED25519_BYTES {
                    return Err(KeyProblem::Point);
                }
                Ok(Self::Point(UnparsedPublicKey::new(&ED25519, point), Algorithm::EdDsa))
            }
            ("oct", _) => Err(KeyProblem::Secret),
            _ => Err(KeyProblem::Type),
        }
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        match self {
            Self::Rsa(_) => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Self::Point(_, own) => *own == algorithm,
        }
    }
}

/// Reads an RSA key. ring would refuse each of its signatures if the numbers were out of range, so that is found here.
fn rsa(members: &Map<String, Value>) -> Result<KeyMaterial, KeyProblem> {
    let (n, e) = (unsigned(bytes(members, "n")?), unsigned(bytes(members, "e")?));
    if !(MODULUS_BITS_MIN..=MODULUS_BITS_MAX).contains(&bits(&n)) || !is_odd(&n) {
        return Err(KeyProblem::Modulus);
    }
    // An odd number of two bits or more is at least 3. With the exponent 1, anyone could make signatures.
    if !is_odd(&e) || !(2..=EXPONENT_BITS_MAX).contains(&bits(&e)) {
        return Err(KeyProblem::Exponent);
    }
    Ok(KeyMaterial::Rsa(RsaPublicKeyComponents { n, e }))
}

/// Reads an uncompressed point of a curve, with coordinates of `length` bytes.
fn point(
    members: &Map<String, Value>,
    length: usize,
    curve: &'static agreement::Algorithm,
) -> Result<Vec<u8>, KeyProblem> {
    let (x, y) = (bytes(members, "x")?, bytes(members, "y")?);
    // A coordinate has the full length of its curve, with leading zeros (RFC 7518, section 6.2.1.2).
    if x.len() != length || y.len() != length {
        return Err(KeyProblem::Point);
    }
    // 4 marks an uncompressed point (SEC 1, section 2.3.3).
    let point = [&[4][..], &x, &y].concat();
    // ring checks a point only when it is used. A key agreement distinguishes a wrong point from a wrong signature.
    let private = EphemeralPrivateKey::generate(curve, &SystemRandom::new()).map_err(|_| KeyProblem::Point)?;
    let public = agreement::UnparsedPublicKey::new(curve, &point);
    agree_ephemeral(private, &public, |_| ()).map_err(|_| KeyProblem::Point)?;
    Ok(point)
}

fn bytes(members: &Map<String, Value>, name: &'static str) -> Result<Vec<u8>, WrongMember> {
    BASE64URL_NOPAD.decode(required(members, name)?.as_bytes()).map_err(|_| WrongMember(name))
}

/// Drops leading zero bytes, which ring does not take.
fn unsigned(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}

/// Returns the bits of a number without leading zero bytes.
fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

fn is_odd(number: &[u8]) -> bool {
    number.last().is_some_and(|last| last & 1 == 1)
}
