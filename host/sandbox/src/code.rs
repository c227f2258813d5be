//! A plugin's code. It is mapped and linked once, and instantiated for every call.

use crate::artefact::{Artefact, CodeFile};
use crate::component::Refusal;
use crate::contract::{Contract, LinkedPlugin};
use crate::engine::Engine;
use std::sync::Arc;
use wasmtime::component::Component;

/// Code that is ready to run. Clones share it.
#[derive(Clone)]
pub struct Code(Arc<MappedCode>);

struct MappedCode {
    plugin: LinkedPlugin,
    /// The file that the code is mapped from. Engines may share it.
    _file: Option<Arc<CodeFile>>,
}

impl Code {
    /// Maps compiled code and links it to the interfaces of this engine. Code in a file is mapped from there, so that
    /// hosts share its memory, and the system can drop what no call uses. It is copied where the file system does not
    /// allow to run code.
    ///
    /// # Errors
    /// The code is for another engine, or the component's types do not match the contract.
    pub fn load(engine: &Engine, artefact: &Artefact) -> Result<Self, Refusal> {
        let mapped = artefact.file().and_then(|file| Some((map(engine, file)?, file)));
        let (component, file) = match mapped {
            Some((component, file)) => (component, Some(Arc::clone(file))),
            None => (copy(engine, artefact)?, None),
        };
        let plugin = LinkedPlugin::link(&component, &engine.linker).map_err(|error| mismatch(&error))?;
        Ok(Self(Arc::new(MappedCode { plugin, _file: file })))
    }

    /// Returns the plugin's version of the contract.
    pub fn contract(&self) -> Contract {
        self.0.plugin.contract()
    }

    /// Returns whether the plugin reviews its calls.
    pub fn reviews(&self) -> bool {
        self.0.plugin.reviews()
    }

    /// Returns whether the plugin computes what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.0.plugin.previews()
    }

    /// Returns whether the plugin makes tools from its settings and its directories.
    pub fn generates(&self) -> bool {
        self.0.plugin.generates()
    }

    /// Returns whether the plugin offers some callers less of its tools.
    pub fn prepares(&self) -> bool {
        self.0.plugin.prepares()
    }

    pub(crate) fn plugin(&self) -> &LinkedPlugin {
        &self.0.plugin
    }
}

/// Maps code from its file. Returns `None` if that fails: the code is for another engine, or the file system does not
/// allow to run code.
fn map(engine: &Engine, file: &CodeFile) -> Option<Component> {
    #[expect(unsafe_code, reason = "compiled code is trusted like the host's own")]
    // SAFETY: the MAC of the file was checked. Only who can write the private cache can change the file since then, and
    // can read the key of the MAC too.
    unsafe { Component::deserialize_file(&engine.engine, file.path()) }.ok()
}

fn copy(engine: &Engine, artefact: &Artefact) -> Result<Component, Refusal> {
    let bytes = artefact.bytes().map_err(|error| mismatch(&error.into()))?;
    #[expect(unsafe_code, reason = "compiled code is trusted like the host's own")]
    // SAFETY: an `Artefact` comes either from our own compiler, or from a store that has verified its MAC. It is copied
    // here, so it cannot change afterwards.
    unsafe { Component::deserialize(&engine.engine, bytes) }.map_err(|error| mismatch(&error))
}

fn mismatch(error: &wasmtime::Error) -> Refusal {
    Refusal::Mismatch(format!("{error:#}").escape_debug().take(1024).collect())
}
