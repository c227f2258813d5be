//! `portcullis:tool@0.1`.

use wasmtime::component::{ComponentType, Lift};

super::bind!("../../wit/v0.1", kinds: { Directory, Http, Store, Service }, with: {});

impl From<types::Blob> for manifest::Blob {
    fn from(blob: types::Blob) -> Self {
        Self { name: None, media_type: blob.media_type, data: blob.data, is_kept: false }
    }
}

impl From<types::Failure> for manifest::Failure {
    fn from(failure: types::Failure) -> Self {
        match failure {
            types::Failure::InvalidArguments(text) => Self::InvalidArguments(text),
            types::Failure::Denied(text) => Self::Denied(text),
            types::Failure::Unavailable(message) => Self::Unavailable { message, retry_after: None },
            types::Failure::Cancelled => Self::Cancelled,
            types::Failure::Failed(text) => Self::Failed(text),
        }
    }
}

/// The result of `review`. It is written by hand, because `reviewer` is an optional export.
pub(super) type Reviewed = (Verdict,);

/// `verdict`.
#[derive(ComponentType, Lift)]
#[component(variant)]
pub(super) enum Verdict {
    #[component(name = "clear")]
    Clear,
    #[component(name = "ask")]
    Ask(String),
    #[component(name = "refuse")]
    Refuse(String),
}

impl From<Verdict> for manifest::Verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Clear => Self::Clear,
            Verdict::Ask(reason) => Self::Ask(manifest::ReviewRequest::new(reason)),
            Verdict::Refuse(reason) => Self::Refuse(reason),
        }
    }
}
