//! The host of a call, through the imports of the contract.

use std::path::PathBuf;

use super::bindings;
use super::bindings::portcullis::tool::{context as calls, dependencies, types};
use super::bindings::wasi::config::store as config;
use super::bindings::wasi::logging::logging;
use super::client::Client;
use super::errors;
use super::program::Program;
use super::store::Bucket;
use super::text::Text;
use super::toolset::Toolset;
use crate::log::Level;
use crate::{Blob, Call, Failure, Permission, Progress};

/// The handle behind a directory.
pub type Handle = bindings::wasi::filesystem::types::Descriptor;

/// The host of this call.
#[derive(Debug)]
pub(crate) struct Host {
    tool: String,
}

impl Host {
    /// Returns the host of a call of a tool; the name is empty outside of a call.
    pub(super) fn of(tool: &str) -> Self {
        Self { tool: tool.to_owned() }
    }

    pub(crate) fn call(&self) -> Call {
        let calls::Call { id, session, message, agent } = calls::current();
        Call { id, session, message, agent }
    }

    pub(crate) fn report(&self, progress: Progress) {
        let Progress { title, metadata, fraction } = progress;
        calls::report(&calls::Progress { title, metadata: metadata.map(|value| value.to_string()), fraction });
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        calls::is_cancelled()
    }

    pub(crate) fn ask(&self, permission: Permission, resource: &str, reason: &str) -> Result<(), String> {
        calls::ask(permission.name(), resource, reason)
    }

    /// Separate from `ask`, so that a plugin imports only the function that it uses.
    pub(crate) fn ask_with_patterns(
        &self,
        permission: Permission,
        resource: &str,
        reason: &str,
        patterns: &[&str],
    ) -> Result<(), String> {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        calls::ask_with_patterns(permission.name(), resource, reason, &patterns)
    }

    pub(crate) fn keep(&self, file: Blob) -> Result<(), String> {
        calls::keep(&blob(file))
    }

    pub(crate) fn setting(&self, key: &str) -> Option<String> {
        config::get(key).ok().flatten()
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        let level = match level {
            Level::Trace => logging::Level::Trace,
            Level::Debug => logging::Level::Debug,
            Level::Info => logging::Level::Info,
            Level::Warn => logging::Level::Warn,
            Level::Error => logging::Level::Error,
            Level::Critical => logging::Level::Critical,
        };
        logging::log(level, &self.tool, message);
    }

    pub(crate) fn directory(&self, key: &str) -> Result<(PathBuf, Handle), Failure> {
        let handle = dependencies::open_directory(key).map_err(|why| errors::no_handle("directory", key, why))?;
        Ok((PathBuf::from(format!("/{key}")), handle))
    }

    pub(crate) fn client(&self, key: &str) -> Result<Client, Failure> {
        let handle = dependencies::open_client(key).map_err(|why| errors::no_handle("HTTP client", key, why))?;
        Ok(Client::new(handle))
    }

    pub(crate) fn store(&self, key: &str) -> Result<Bucket, Failure> {
        Bucket::open(key)
    }

    pub(crate) fn service(&self, key: &str) -> Result<Service, Failure> {
        let handle = dependencies::open_service(key).map_err(|why| errors::no_handle("service", key, why))?;
        Ok(Service { handle })
    }

    pub(crate) fn program(&self, key: &str) -> Result<Program, Failure> {
        Program::open(key)
    }

    pub(crate) fn tools(&self, key: &str) -> Result<Toolset, Failure> {
        Toolset::open(key)
    }

    pub(crate) fn text(&self) -> Result<Text, Failure> {
        Text::open().ok_or_else(|| Failure::failed("there is no answer to write"))
    }

    pub(crate) fn names_host(&self, key: &str, url: &str) -> Result<bool, Failure> {
        dependencies::names_host(key, url).map_err(|why| errors::no_handle("HTTP client", key, why))
    }
}

/// The handle behind a service.
#[derive(Debug)]
pub(crate) struct Service {
    handle: dependencies::Service,
}

impl Service {
    pub(crate) fn call(&self, method: &str, input: &str) -> Result<String, String> {
        self.handle.call(method, input)
    }
}

/// Converts a file for the host.
pub(super) fn blob(blob: Blob) -> types::Blob {
    types::Blob { name: blob.name, media_type: blob.media_type, data: blob.data }
}
