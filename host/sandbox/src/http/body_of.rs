//! A body whose content is known.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use wasmtime_wasi_http::WasiBody;

/// Returns a whole body.
pub(super) fn body_of(bytes: Bytes) -> WasiBody {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed_unsync()
}
