//! Picks the tools for the model: those that fit the person's message, and the host's own.

use portcullis::Host;
use portcullis::plugins::{NameCollision, Offer};
use portcullis_providers::Definitions;

/// Picks at most `limit` tools of plugins, and freezes them: the model's calls are checked against these definitions.
///
/// # Errors
/// Two of them would have the same name.
pub(crate) fn choose(host: &Host, words: &str, limit: usize) -> Result<Definitions, NameCollision> {
    let catalog = host.catalog();
    let (own, offers): (Vec<Offer>, Vec<Offer>) = catalog.offers().partition(|offer| offer.plugin.is_standard());
    let mut chosen = offers;
    if chosen.len() > limit {
        // `pick` may also return the host's own tools. Ask for more, so that they do not displace others.
        chosen = catalog.pick(words, limit.saturating_add(own.len()));
        chosen.retain(|offer| !offer.plugin.is_standard());
        chosen.truncate(limit);
    }
    chosen.extend(own);
    Definitions::of(chosen)
}
