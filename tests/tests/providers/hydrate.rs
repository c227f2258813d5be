//! From what models answer to calls: in every provider's form, and in every way in which that goes wrong.

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
