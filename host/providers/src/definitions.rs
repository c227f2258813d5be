//! The tools that are offered to a model: a fixed set with names that every provider accepts.

use portcullis::Host;
use portcullis::plugins::{NameCollision, Offer, ToolNames};
use std::collections::HashMap;

/// A frozen set of tools. The answers of a model are checked against the definitions in it, even if the catalog has
/// changed since.
#[derive(Clone, Debug)]
pub struct Definitions {
    tools: Vec<Defined>,
    index: HashMap<String, usize>,
}

/// A tool of the set.
#[derive(Clone, Debug)]
pub(crate) struct Defined {
    /// The name for models.
    pub(crate) name: String,
    /// The full name, as in policies and the audit log.
    pub(crate) full_name: String,
    /// The offered tool.
    pub(crate) offer: Offer,
}

impl Definitions {
    /// Freezes these tools, in this order.
    ///
    /// # Errors
    /// Two of them would have the same name.
    pub fn of(offers: impl IntoIterator<Item = Offer>) -> Result<Self, NameCollision> {
        let offers: Vec<Offer> = offers.into_iter().collect();
        let names = ToolNames::Full.assign(&offers)?;
        let index = names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let defined =
            |(name, offer): (String, Offer)| Defined { name, full_name: offer.tool.name().to_string(), offer };
        let tools = names.into_iter().zip(offers).map(defined).collect();
        Ok(Self { tools, index })
    }

    /// Freezes all callable tools of a host ([`Host::is_callable`]).
    ///
    /// # Errors
    /// Two of them would have the same name.
    pub fn of_host(host: &Host) -> Result<Self, NameCollision> {
        Self::of(host.catalog().offers().filter(|offer| host.is_callable(&offer.tool)))
    }

    /// Returns the names for models, each with the tool's full name, in order.
    pub fn names(&self) -> impl Iterator<Item = (&str, &portcullis::policy::ToolName)> {
        self.tools.iter().map(|tool| (tool.name.as_str(), tool.offer.tool.name()))
    }

    /// Returns the tools, in order.
    pub(crate) fn tools(&self) -> &[Defined] {
        &self.tools
    }

    /// Returns the tool with this name for models.
    pub(crate) fn find(&self, name: &str) -> Option<&Defined> {
        self.tools.get(*self.index.get(name)?)
    }
}
