//! `fields`: headers and trailers.

use super::HttpGuard;
use wasmtime::component::Resource;
use wasmtime_wasi_http::FieldMap;
use wasmtime_wasi_http::p2::bindings::http::types::HostFields;
use wasmtime_wasi_http::p2::{HeaderError, HeaderResult};

impl HttpGuard<'_> {
    fn weigh_fields(&mut self, fields: &Resource<FieldMap>) -> HeaderResult<()> {
        self.0.weigh(fields).map_err(HeaderError::trap)
    }
}

impl HostFields for HttpGuard<'_> {
    fn new(&mut self) -> wasmtime::Result<Resource<FieldMap>> {
        HostFields::new(&mut self.inner())
    }

    fn from_list(&mut self, entries: Vec<(String, Vec<u8>)>) -> HeaderResult<Resource<FieldMap>> {
        let fields = self.inner().from_list(entries)?;
        self.weigh_fields(&fields)?;
        Ok(fields)
    }

    fn drop(&mut self, fields: Resource<FieldMap>) -> wasmtime::Result<()> {
        self.forget(&fields);
        HostFields::drop(&mut self.inner(), fields)
    }

    fn get(&mut self, fields: Resource<FieldMap>, name: String) -> wasmtime::Result<Vec<Vec<u8>>> {
        HostFields::get(&mut self.inner(), fields, name)
    }

    fn has(&mut self, fields: Resource<FieldMap>, name: String) -> wasmtime::Result<bool> {
        self.inner().has(fields, name)
    }

    fn set(&mut self, fields: Resource<FieldMap>, name: String, values: Vec<Vec<u8>>) -> HeaderResult<()> {
        let weighed = Resource::new_borrow(fields.rep());
        HostFields::set(&mut self.inner(), fields, name, values)?;
        self.weigh_fields(&weighed)
    }

    fn delete(&mut self, fields: Resource<FieldMap>, name: String) -> HeaderResult<()> {
        let weighed = Resource::new_borrow(fields.rep());
        self.inner().delete(fields, name)?;
        self.weigh_fields(&weighed)
    }

    fn append(&mut self, fields: Resource<FieldMap>, name: String, value: Vec<u8>) -> HeaderResult<()> {
        let weighed = Resource::new_borrow(fields.rep());
        self.inner().append(fields, name, value)?;
        self.weigh_fields(&weighed)
    }

    fn entries(&mut self, fields: Resource<FieldMap>) -> wasmtime::Result<Vec<(String, Vec<u8>)>> {
        self.inner().entries(fields)
    }

    fn clone(&mut self, fields: Resource<FieldMap>) -> wasmtime::Result<Resource<FieldMap>> {
        let copy = HostFields::clone(&mut self.inner(), fields)?;
        self.0.weigh(&copy)?;
        Ok(copy)
    }
}
