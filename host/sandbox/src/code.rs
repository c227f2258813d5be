//! A plugin's code. It is mapped and linked once, and instantiated for every call.

use crate::compile::Artefact;
use crate::component::Refusal;
use crate::contract::{Contract, LinkedPlugin};
use crate::engine::Engine;
use std::sync::Arc;
use wasmtime::component::Component;

/// Code that is ready to run. Clones share it.
#[derive(Clone)]
pub struct Code(Arc<LinkedPlugin>);

impl Code {
    /// Maps compiled code and links it to the interfaces of this engine.
    ///
    /// # Errors
    /// The code is for another engine, or the component's types do not match the contract.
    pub fn load(engine: &Engine, artefact: &Artefact) -> Result<Self, Refusal> {
        #[expect(unsafe_code, reason = "compiled code is trusted like the host's own")]
        // SAFETY: an `Artefact` comes either from our own compiler, or from a store that has verified its MAC. It is
        // copied here, so it cannot change afterwards.
        let component = unsafe { Component::deserialize(&engine.engine, artefact.bytes()) };
        let component = component.map_err(|error| mismatch(&error))?;
        let plugin = LinkedPlugin::link(&component, &engine.linker).map_err(|error| mismatch(&error))?;
        Ok(Self(Arc::new(plugin)))
    }

    /// Returns the plugin's version of the contract.
    pub fn contract(&self) -> Contract {
        self.0.contract()
    }

    /// Returns whether the plugin reviews its calls.
    pub fn reviews(&self) -> bool {
        self.0.reviews()
    }

    /// Returns whether the plugin computes what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.0.previews()
    }

    /// Returns whether the plugin makes tools from its settings and its directories.
    pub fn generates(&self) -> bool {
        self.0.generates()
    }

    /// Returns whether the plugin offers some callers less of its tools.
    pub fn prepares(&self) -> bool {
        self.0.prepares()
    }

    pub(crate) fn plugin(&self) -> &LinkedPlugin {
        &self.0
    }
}

fn mismatch(error: &wasmtime::Error) -> Refusal {
    Refusal::Mismatch(format!("{error:#}").escape_debug().take(1024).collect())
}
