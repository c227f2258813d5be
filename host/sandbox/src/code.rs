//! A plugin's code, mapped and linked once, instantiated for every call.

use crate::compile::Artefact;
use crate::component::Refusal;
use crate::contract::{Contract, Plugin};
use crate::engine::Engine;
use std::sync::Arc;
use wasmtime::component::Component;

/// Code that can be run. Clones share it.
#[derive(Clone)]
pub struct Code(Arc<Plugin>);

impl Code {
    /// Maps compiled code and links it to what this engine serves.
    ///
    /// # Errors
    /// The code is of another engine, or the component's types do not match the contract.
    pub fn load(engine: &Engine, artefact: &Artefact) -> Result<Self, Refusal> {
        #[expect(unsafe_code, reason = "compiled code is trusted like the host's own")]
        // SAFETY: an `Artefact` is made by nothing but our own compiler, or read from a store that has verified its
        // MAC; and it is copied here, so that nobody can change it afterwards.
        let component = unsafe { Component::deserialize(&engine.engine, artefact.bytes()) };
        let component = component.map_err(|error| mismatch(&error))?;
        let plugin = Plugin::link(&component, &engine.linker).map_err(|error| mismatch(&error))?;
        Ok(Self(Arc::new(plugin)))
    }

    /// The version of the contract it speaks.
    pub fn contract(&self) -> Contract {
        self.0.contract()
    }

    /// Whether the plugin wants a say in whether a call runs.
    pub fn reviews(&self) -> bool {
        self.0.reviews()
    }

    /// Whether the plugin computes what its calls would change in files.
    pub fn previews(&self) -> bool {
        self.0.previews()
    }

    pub(crate) fn plugin(&self) -> &Plugin {
        &self.0
    }
}

fn mismatch(error: &wasmtime::Error) -> Refusal {
    Refusal::Mismatch(format!("{error:#}").escape_debug().take(1024).collect())
}
