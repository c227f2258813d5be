//! A plugin's code, mapped and linked once, instantiated for every call.

use crate::compile::Artefact;
use crate::component::Refusal;
use crate::contract::v0_1;
use crate::engine::Engine;
use crate::state::State;
use std::sync::Arc;
use wasmtime::component::{Component, ComponentExportIndex};

/// Code that can be run. Clones share it.
#[derive(Clone)]
pub struct Code(Arc<Inner>);

struct Inner {
    plugin: v0_1::PluginPre<State>,
    review: Option<ComponentExportIndex>,
}

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
        let review = component
            .get_export_index(None, v0_1::REVIEWER)
            .and_then(|reviewer| component.get_export_index(Some(&reviewer), "review"));
        let instance = engine.linker.instantiate_pre(&component).map_err(|error| mismatch(&error))?;
        let plugin = v0_1::PluginPre::new(instance).map_err(|error| mismatch(&error))?;
        Ok(Self(Arc::new(Inner { plugin, review })))
    }

    /// Whether the plugin wants a say in whether a call runs.
    pub fn reviews(&self) -> bool {
        self.0.review.is_some()
    }

    pub(crate) fn plugin(&self) -> &v0_1::PluginPre<State> {
        &self.0.plugin
    }

    pub(crate) fn review(&self) -> Option<&ComponentExportIndex> {
        self.0.review.as_ref()
    }
}

fn mismatch(error: &wasmtime::Error) -> Refusal {
    Refusal::Mismatch(format!("{error:#}").escape_debug().take(1024).collect())
}
