//! `tools/list`: what there is, in one order, by pages.

mod listing;
mod page;

pub(crate) use listing::{Listing, Listings};
pub(crate) use page::list;
