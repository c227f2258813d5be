//! Which tools the model is shown: those that fit what the person wrote, and the host's own.

use portcullis::Host;
use portcullis::plugins::{NameCollision, Offer};
use portcullis_providers::Definitions;

/// Chooses tools of plugins, at most `limit`, and freezes them: the model's calls are held to what it was shown.
///
/// # Errors
/// Two of them would have one name.
pub(crate) fn choose(host: &Host, words: &str, limit: usize) -> Result<Definitions, NameCollision> {
    let catalog = host.catalog();
    let (own, offers): (Vec<Offer>, Vec<Offer>) = catalog.offers().partition(|offer| offer.plugin.is_standard());
    let mut chosen = offers;
    if chosen.len() > limit {
        // The host's own are among those that are picked from, and take no place of another.
        chosen = catalog.pick(words, limit.saturating_add(own.len()));
        chosen.retain(|offer| !offer.plugin.is_standard());
        chosen.truncate(limit);
    }
    chosen.extend(own);
    Definitions::of(chosen)
}
