//! A signed token in its compact form (RFC 7515): three parts, of which the first says how the third proves the second.

use super::keys::{Algorithm, Keys};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// The most bytes of a token. Those of large groups have 4 KiB.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// The types a token for access may say that it has.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    kid: Option<String>,
    /// What a reader has to understand, whatever it is: nothing here does.
    crit: Option<serde::de::IgnoredAny>,
}

/// The payload of a token, if one of the keys signed it. Nothing else of the token is to be believed.
pub(super) fn verified(token: &str, keys: &Keys) -> Option<Vec<u8>> {
    if token.len() > TOKEN_BYTES_MAX {
        return None;
    }
    let (message, signature) = token.rsplit_once('.')?;
    let (header, payload) = message.split_once('.').filter(|(_, payload)| !payload.contains('.'))?;
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    let header: Header = serde_json::from_slice(&decode(header)?).ok()?;
    let is_access = |name: &String| TYPES.iter().any(|known| known.eq_ignore_ascii_case(name));
    if header.crit.is_some() || !header.typ.as_ref().is_none_or(is_access) {
        return None;
    }
    let algorithm = Algorithm::named(&header.alg)?;
    let signed = keys.verify(header.kid.as_deref(), algorithm, message.as_bytes(), &decode(signature)?);
    if signed { decode(payload) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7515, appendix A.2, with its key.
    const KEY: &str = r#"{"keys":[{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}]}"#;
    const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";

    fn keys(text: &str) -> Keys {
        Keys::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn the_example_of_the_standard_is_verified_and_no_variation_of_it() {
        let payload = verified(TOKEN, &keys(KEY)).unwrap();
        assert!(payload.starts_with(b"{\"iss\":\"joe\""));
        let (message, signature) = TOKEN.rsplit_once('.').unwrap();
        let (header, payload) = message.split_once('.').unwrap();
        let with_header = |header: &str| format!("{}.{payload}.{signature}", URL_SAFE_NO_PAD.encode(header));
        let variations = [
            String::new(),
            "..".to_owned(),
            message.to_owned(),
            format!("{message}."),
            format!("{TOKEN}."),
            format!("{TOKEN}="),
            format!("{header}.{payload}x.{signature}"),
            with_header(r#"{"alg":"none"}"#),
            with_header(r#"{"alg":"HS256"}"#),
            with_header(r#"{"alg":"PS256"}"#),
            with_header(r#"{"alg":"RS256"} "#),
        ];
        for variation in variations {
            assert_eq!(verified(&variation, &keys(KEY)), None, "{variation}");
        }
    }

    #[test]
    fn a_key_verifies_only_what_its_set_says_it_is_for() {
        let with = |members: &str| KEY.replace("\"kty\":\"RSA\"", &format!("\"kty\":\"RSA\",{members}"));
        for members in [r#""alg":"RS256""#, r#""use":"sig""#, r#""key_ops":["verify"]"#, r#""kid":"a""#] {
            assert!(verified(TOKEN, &keys(&with(members))).is_some(), "{members}");
        }
        assert_eq!(verified(TOKEN, &keys(&with(r#""alg":"PS256""#))), None);
        for members in [r#""alg":"HS256""#, r#""alg":"none""#, r#""use":"enc""#, r#""key_ops":["encrypt"]"#] {
            assert!(Keys::parse(with(members).as_bytes()).is_err(), "{members}");
        }
        for none in ["", "{}", r#"{"keys":[]}"#, r#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#] {
            assert!(Keys::parse(none.as_bytes()).is_err(), "{none}");
        }
    }
}
