//! The tools that a model is offered: one set, under names that every provider takes, that stays as it is.

use portcullis::Host;
use portcullis::plugins::{NameCollision, Offer, ToolNames};
use std::collections::HashMap;

/// A frozen set of tools. What a model answers is held to the definitions in it, although the catalog has changed
/// since.
#[derive(Clone, Debug)]
pub struct Definitions {
    tools: Vec<Defined>,
    index: HashMap<String, usize>,
}

/// A tool of the set.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    /// The name that models know it by.
    pub(crate) name: String,
    /// Its full name, as it stands in policies and records.
    pub(crate) full_name: String,
    /// The tool itself.
    pub(crate) offer: Offer,
}

impl Definitions {
    /// Freezes these tools, in this order.
    ///
    /// # Errors
    /// Two of them would have one name.
    pub fn of(offers: impl IntoIterator<Item = Offer>) -> Result<Self, NameCollision> {
        let offers: Vec<Offer> = offers.into_iter().collect();
        let names = ToolNames::Full.assign(&offers)?;
        let index = names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let defined =
            |(name, offer): (String, Offer)| Defined { name, full_name: offer.tool.name().to_string(), offer };
        let tools = names.into_iter().zip(offers).map(defined).collect();
        Ok(Self { tools, index })
    }

    /// Freezes all tools of a host that a call could come to ([`Host::is_callable`]).
    ///
    /// # Errors
    /// Two of them would have one name.
    pub fn of_host(host: &Host) -> Result<Self, NameCollision> {
        Self::of(host.catalog().offers().filter(|offer| host.is_callable(&offer.tool)))
    }

    /// The names that models know the tools by, with the full name of each, in their order.
    pub fn names(&self) -> impl Iterator<Item = (&str, &portcullis::policy::ToolName)> {
        self.tools.iter().map(|tool| (tool.name.as_str(), tool.offer.tool.name()))
    }

    /// The tools, in their order.
    pub(crate) fn tools(&self) -> &[Defined] {
        &self.tools
    }

    /// The tool that a model means by a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Defined> {
        self.tools.get(*self.index.get(name)?)
    }
}
