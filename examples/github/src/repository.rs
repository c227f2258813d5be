//! The name of a repository, which becomes a part of a path.

use portcullis_sdk::prelude::*;

/// Maximum length of an owner in bytes, as on GitHub.
const OWNER_BYTES_MAX: usize = 39;

/// Maximum length of a name in bytes, as on GitHub.
const NAME_BYTES_MAX: usize = 100;

/// A repository: `owner/name`, in characters that cannot lead to another path.
#[derive(Debug)]
pub(crate) struct Repository {
    full_name: String,
}

impl Repository {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text.split_once('/') {
            Some((owner, name)) if is_owner(owner) && is_name(name) => Ok(Self { full_name: text.to_owned() }),
            Some(_) | None => {
                let text = text.escape_debug();
                Err(Failure::invalid(format!(
                    "`{text}` is not a repository; write it as owner/name, such as rust-lang/rust"
                )))
            }
        }
    }

    pub(crate) fn full_name(&self) -> &str {
        &self.full_name
    }
}

fn is_owner(text: &str) -> bool {
    (1..=OWNER_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        && !matches!(text, "." | "..")
}
