//! The names of the tools of a catalog, for clients and models.

use super::offer::Offer;
use portcullis_definitions::names::{self, NameCollision, NameForm, UnnamedTool};

/// How tools are named to clients and models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolNames {
    /// `plugin__tool`, which every provider accepts.
    #[default]
    Full,
    /// `tool` alone. Built-in tools keep their full names.
    Short,
}

impl ToolNames {
    /// Names each tool, in the order of `offers`.
    ///
    /// # Errors
    /// Two tools would have the same name.
    pub fn assign(self, offers: &[Offer]) -> Result<Vec<String>, NameCollision> {
        names::assign(&self.unnamed(offers))
    }

    /// Names each tool, in the order of `offers`. Tools that would share a short name get their full names. Tools that
    /// would share a full name get a digest in their names.
    pub fn assign_leniently(self, offers: &[Offer]) -> Vec<String> {
        names::assign_leniently(&self.unnamed(offers))
    }

    fn unnamed(self, offers: &[Offer]) -> Vec<UnnamedTool> {
        offers.iter().map(|offer| UnnamedTool { name: offer.tool.name().clone(), form: self.form(offer) }).collect()
    }

    /// Built-in tools keep their full names, so that no plugin can collide with them.
    fn form(self, offer: &Offer) -> NameForm {
        match self {
            Self::Short if !offer.plugin.is_standard() => NameForm::Short,
            Self::Short | Self::Full => NameForm::Full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::contents::Catalog;
    use super::*;
    use crate::policy_in_force::PolicyInForce;
    use crate::standard;

    #[test]
    fn built_in_tools_keep_their_full_names() {
        let catalog = Catalog::under(&PolicyInForce::deny_all(), standard::plugins());
        let offers: Vec<Offer> = catalog.offers().collect();
        let full = ToolNames::Full.assign(&offers).unwrap();
        assert!(full.contains(&"output__read".to_owned()), "{full:?}");
        assert_eq!(ToolNames::Short.assign(&offers).unwrap(), full);
        assert_eq!(ToolNames::Short.assign_leniently(&offers), full);
    }
}
