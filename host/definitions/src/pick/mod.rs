//! Searches a large catalog for the few tools that fit a need, by its words. It must not know what a tool may do, so a
//! found tool may still be denied.

mod fields;
mod groups;
mod index;
mod lexicon;
mod nouns;
mod phrases;
mod query;
mod rank;
mod stem;
mod terms;
mod verbs;

pub use fields::{DescribedTool, index};
pub use index::Index;
pub use rank::best;
