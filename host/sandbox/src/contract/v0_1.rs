//! `portcullis:tool@0.1`.

super::bind!("../../wit/v0.1");

impl From<types::Blob> for manifest::Blob {
    fn from(blob: types::Blob) -> Self {
        Self { name: None, media_type: blob.media_type, data: blob.data }
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
