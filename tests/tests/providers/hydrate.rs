//! From model responses to calls, in every provider's format, including invalid responses.

#[path = "hydrate/desk.rs"]
mod desk;

#[path = "hydrate/envelopes.rs"]
mod envelopes;

#[path = "hydrate/refused.rs"]
mod refused;

#[path = "hydrate/nulls.rs"]
mod nulls;

#[path = "hydrate/mended.rs"]
mod mended;

#[path = "hydrate/unvalidated.rs"]
mod unvalidated;

#[path = "hydrate/hostile.rs"]
mod hostile;
