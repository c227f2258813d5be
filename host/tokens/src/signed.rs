//! A signed token in its compact form (RFC 7515): the header says how the signature proves the payload.

use crate::algorithm::Algorithm;
use crate::error::TokenError;
use crate::keys::Keys;
use crate::members::{parse_object, required, text};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Value};

/// Maximum bytes of a token. Those of large groups have 4 KiB.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The types that an access token may say it has (RFC 9068, section 4; RFC 8725, section 3.11).
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

/// Header members that change how the rest of a token is to be read, each with or without a value: extensions that must
/// be understood (RFC 7515), an unencoded payload (RFC 7797), encryption and compression (RFC 7516).
const NOT_SUPPORTED: [&str; 4] = ["crit", "b64", "enc", "zip"];

impl Keys {
    /// Returns the payload of a token that one of the keys signed. Keys and addresses in its header are not used.
    ///
    /// # Errors
    /// The token is malformed, asks for something that is not supported, or has no valid signature.
    pub fn open(&self, token: &str) -> Result<Map<String, Value>, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::TooLong);
        }
        let (message, signature) = token.rsplit_once('.').ok_or(TokenError::NotCompact)?;
        let (header, payload) = message.split_once('.').ok_or(TokenError::NotCompact)?;
        // An encrypted token has five parts (RFC 7516, section 7.1).
        if payload.contains('.') {
            return Err(TokenError::NotCompact);
        }
        let header = parse_object(&decode(header)?).ok_or(TokenError::NotAnObject)?;
        let (algorithm, key) = read_header(&header)?;
        if !self.verify(key, algorithm, message.as_bytes(), &decode(signature)?) {
            return Err(TokenError::Signature);
        }
        // Only a signed payload is parsed. Without a key, no one reaches more than the header.
        parse_object(&decode(payload)?).ok_or(TokenError::NotAnObject)
    }
}

/// Returns the algorithm of a token, and the name of its key.
fn read_header(header: &Map<String, Value>) -> Result<(Algorithm, Option<&str>), TokenError> {
    if let Some(name) = NOT_SUPPORTED.into_iter().find(|name| header.contains_key(*name)) {
        return Err(TokenError::Header(name));
    }
    let is_access = |name: &str| TYPES.iter().any(|known| known.eq_ignore_ascii_case(name));
    if !text(header, "typ").map_err(|_| TokenError::Header("typ"))?.is_none_or(is_access) {
        return Err(TokenError::Header("typ"));
    }
    let key = text(header, "kid").map_err(|_| TokenError::Header("kid"))?;
    let name = required(header, "alg").map_err(|_| TokenError::Header("alg"))?;
    Ok((Algorithm::named(name).ok_or(TokenError::Algorithm)?, key))
}

fn decode(part: &str) -> Result<Vec<u8>, TokenError> {
    BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| TokenError::NotBase64)
}
