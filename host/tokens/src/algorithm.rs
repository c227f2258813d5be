//! The signature algorithms that a token may use.

/// What a token may be signed with. There is no `none`, and nothing with a shared secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA with SHA-256, as PKCS #1 1.5.
    Rs256,
    /// RSA with SHA-256, as PSS.
    Ps256,
    /// The curve P-256 with SHA-256.
    Es256,
    /// The curve P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Returns the algorithm of that name (RFC 7518, RFC 8037, RFC 9864). Names are case-sensitive.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            "ES384" => Some(Self::Es384),
            // RFC 9864 replaces `EdDSA`, which leaves the curve open, by `Ed25519`. Both are the same here, because
            // Ed448 is not supported.
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            // `none` needs no key, and for HMAC a public key could serve as the secret (RFC 8725, section 2.1).
            _ => None,
        }
    }
}
