//! `done`: the model says that the work is done. A caller that drives a model ends its turn at the metadata.

use super::call::{Call, Trouble};
use portcullis_sandbox::{Output, Success};

#[expect(clippy::unnecessary_wraps, reason = "each of the host's tools answers alike")]
pub(super) fn done(call: &Call) -> Result<Success, Trouble> {
    let output = Output::Text(call.text("result").to_owned());
    Ok(Success { title: None, output, metadata: Some(r#"{"done":true}"#.to_owned()) })
}
