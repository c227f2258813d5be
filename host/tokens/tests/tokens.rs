//! The verifier against the examples and the rules of the RFCs, and against key sets with bad keys.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod key_sets;
mod vectors;

use data_encoding::BASE64URL_NOPAD;
use ring::signature::Ed25519KeyPair;

/// Encodes a part of a token.
fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

/// Returns the private key of RFC 8037, appendix A.1.
fn signer() -> Ed25519KeyPair {
    let seed = BASE64URL_NOPAD.decode(b"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    Ed25519KeyPair::from_seed_unchecked(&seed).unwrap()
}

/// Returns a token with a valid signature, whatever its header and its payload say.
fn sign(header: &[u8], payload: &[u8]) -> String {
    let message = format!("{}.{}", encode(header), encode(payload));
    let signature = signer().sign(message.as_bytes());
    format!("{message}.{}", encode(signature))
}
