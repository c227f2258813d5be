//! `done`: the model reports that the work is done. A program that runs a model stops when it sees the metadata.

use super::call::{StandardCall, Trouble};
use portcullis_definitions::manifest::{Output, Success};

#[expect(clippy::unnecessary_wraps, reason = "each of the host's tools answers alike")]
pub(super) fn done(call: &StandardCall) -> Result<Success, Trouble> {
    let output = Output::Text(call.text("result").to_owned());
    Ok(Success { title: None, output, metadata: Some(r#"{"done":true}"#.to_owned()) })
}
