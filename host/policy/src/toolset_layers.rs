//! Adds the toolsets of one layer to those of earlier layers.
//!
//! A toolset includes toolsets of its own text and of earlier layers. A later layer cannot change what an earlier text
//! includes. This file must not know which callers a toolset is offered to.

use std::collections::BTreeMap;

use crate::error::PolicyFault;
use crate::file::{Misplaced, PlacedValue, Sections, ToolsetSection};
use crate::key_references::KeyScope;
use crate::layer::Layer;
use crate::name::ToolsetName;
use crate::nearest::nearest;
use crate::toolset::{ToolsetContent, ToolsetIndex, ToolsetOffer, Toolsets};

/// The toolsets of one text while they are resolved.
struct LayerToolsets<'t, 'a> {
    toolsets: &'t mut Toolsets,
    sections: &'a BTreeMap<ToolsetName, ToolsetSection>,
    scope: KeyScope,
    resolved: BTreeMap<&'a ToolsetName, ToolsetIndex>,
    /// The toolsets that include the one that is being resolved.
    including: Vec<&'a ToolsetName>,
    faults: Vec<Misplaced>,
}

/// Adds the toolsets and offers of a layer. Returns a fault for each name that is no toolset, and for each cycle.
pub(crate) fn add(toolsets: &mut Toolsets, layer: Layer, sections: &Sections, scope: KeyScope) -> Vec<Misplaced> {
    let mut own = LayerToolsets {
        toolsets,
        sections: &sections.toolsets,
        scope,
        resolved: BTreeMap::new(),
        including: Vec::new(),
        faults: Vec::new(),
    };
    for name in sections.toolsets.keys() {
        own.resolve(name);
    }
    for offer in &sections.offers {
        // Only for its fault: the toolset is found by name below.
        own.find(&offer.toolset);
    }
    let LayerToolsets { resolved, faults, .. } = own;
    for (name, index) in resolved {
        toolsets.define(layer, name, index);
    }
    for offer in &sections.offers {
        let name = &offer.toolset.value;
        if toolsets.index(name.as_str()).is_none() {
            // Offer nothing, because the layer that defines the toolset is not known.
            let nothing = toolsets.push(ToolsetContent::Nothing);
            toolsets.define(layer, name, nothing);
        }
        toolsets.offers.push(ToolsetOffer {
            layer,
            clients: offer.clients.clone(),
            models: offer.models.clone(),
            principals: offer.principals.clone(),
            toolset: name.clone(),
        });
    }
    faults
}

impl<'a> LayerToolsets<'_, 'a> {
    /// Finds a toolset that the text names.
    fn find(&mut self, placed: &'a PlacedValue<ToolsetName>) -> ToolsetIndex {
        let name = &placed.value;
        if self.including.contains(&name) {
            self.faults.push(placed.misplaced(PolicyFault::ToolsetCycle));
        } else if let Some((name, _)) = self.sections.get_key_value(name) {
            return self.resolve(name);
        } else if let Some(index) = self.toolsets.index(name.as_str()) {
            return index;
        } else if self.scope == KeyScope::AllLayers {
            let known = self.sections.keys().chain(self.toolsets.names()).map(ToolsetName::as_str);
            let nearest = nearest(name.as_str(), known).map(str::to_owned);
            self.faults.push(placed.misplaced(PolicyFault::UnknownToolset { nearest }));
        }
        // After a fault, the policy is refused anyway. Without one, another layer may define the toolset.
        self.toolsets.push(ToolsetContent::Nothing)
    }

    /// Resolves a toolset of the text. The depth is at most the number of toolsets in the text.
    fn resolve(&mut self, name: &'a ToolsetName) -> ToolsetIndex {
        let section = match (self.resolved.get(name), self.sections.get(name)) {
            (Some(index), _) => return *index,
            (None, None) => return self.toolsets.push(ToolsetContent::Nothing),
            (None, Some(section)) => section,
        };
        self.including.push(name);
        let includes = section.includes.iter().map(|placed| self.find(placed)).collect();
        self.including.pop();
        let (tools, except) = (section.tools.clone(), section.except.clone());
        let index = self.toolsets.push(ToolsetContent::Listed { tools, includes, except });
        self.resolved.insert(name, index);
        index
    }
}
