//! Parses a principal argument.

use portcullis::policy::{Principal, PrincipalError};

pub(super) fn principal(text: &str) -> Result<Principal, String> {
    text.parse().map_err(|error: PrincipalError| format!("{error}: {}", error.remedy()))
}
