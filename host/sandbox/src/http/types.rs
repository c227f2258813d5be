//! Every function of `wasi:http/types`: wasmtime's own implementation, behind a guard that limits the texts of a
//! request and charges what the host keeps to the call's budget of host memory.
//!
//! A function that creates or changes an object weighs it afterwards. A function that removes an object first returns
//! its weight, because the table reuses its index at once.

mod fields;
mod incoming;
mod outgoing;
mod request;
mod weight;

use crate::state::StoreState;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi_http::p2::bindings::http::types::{self, ErrorCode, Host, IoError};
use wasmtime_wasi_http::p2::{HeaderError, HttpError};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};
pub(super) use weight::{BODY_CHUNK_BYTES_MAX, FIELDS_BYTES_MAX, HEAD_WEIGHT};

/// The guard for the duration of one host call.
struct HttpGuard<'a>(&'a mut StoreState);

impl HttpGuard<'_> {
    /// Returns wasmtime's implementation.
    fn inner(&mut self) -> WasiHttpCtxView<'_> {
        self.0.http()
    }

    /// Returns the weight of an object that is about to be removed.
    fn forget<T>(&mut self, object: &Resource<T>) {
        self.0.weights.remove(object.rep());
    }
}

struct HttpGuardData;

impl HasData for HttpGuardData {
    type Data<'a> = HttpGuard<'a>;
}

/// Adds `wasi:http/types` to a linker.
pub(super) fn add_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    types::add_to_linker::<StoreState, HttpGuardData>(linker, &types::LinkOptions::default(), |state| HttpGuard(state))
}

impl Host for HttpGuard<'_> {
    fn convert_error_code(&mut self, error: HttpError) -> wasmtime::Result<ErrorCode> {
        self.inner().convert_error_code(error)
    }

    fn convert_header_error(&mut self, error: HeaderError) -> wasmtime::Result<types::HeaderError> {
        self.inner().convert_header_error(error)
    }

    fn http_error_code(&mut self, error: Resource<IoError>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner().http_error_code(error)
    }
}
