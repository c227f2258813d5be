//! `portcullis:tool@0.2`: a blob has a name, what was unavailable says when to try again, and a plugin can preview
//! calls.

use std::time::Duration;
use wasmtime::component::{ComponentType, Lift};

super::bind!("../../wit/v0.2");

impl From<types::Blob> for manifest::Blob {
    fn from(blob: types::Blob) -> Self {
        Self { name: blob.name, media_type: blob.media_type, data: blob.data }
    }
}

impl From<types::Failure> for manifest::Failure {
    fn from(failure: types::Failure) -> Self {
        match failure {
            types::Failure::InvalidArguments(text) => Self::InvalidArguments(text),
            types::Failure::Denied(text) => Self::Denied(text),
            types::Failure::Unavailable(types::Outage { message, retry_after_seconds }) => {
                Self::Unavailable { message, retry_after: retry_after_seconds.map(u64::from).map(Duration::from_secs) }
            }
            types::Failure::Cancelled => Self::Cancelled,
            types::Failure::Failed(text) => Self::Failed(text),
        }
    }
}

/// What `preview` returns: written out because `previewer` is an export that a plugin may leave away.
pub(super) type Previewed = (Result<Vec<FileChange>, types::Failure>,);

/// `file-change`.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(super) struct FileChange {
    directory: String,
    path: String,
    content: Option<String>,
}

impl From<FileChange> for manifest::FileChange {
    fn from(change: FileChange) -> Self {
        Self { directory: change.directory, path: change.path, content: change.content }
    }
}
