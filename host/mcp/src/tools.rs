//! `tools/list`: what there is, in one order, by pages, or a short list by which the rest is found and called.

mod listing;
pub(crate) mod loading;
mod page;
mod route;
mod short;

pub(crate) use listing::{Listing, ListingOptions, Listings};
pub(crate) use page::list;
pub(crate) use route::Route;
pub use short::{ShortTool, short_list};
