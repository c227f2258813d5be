//! Runs one component in a fresh store under hard limits: the only crate that names wasmtime.
