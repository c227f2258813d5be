//! The tools of the memory plugin, called as a host calls them, on a notebook of their own.

mod notebook;
mod notes;
mod plugin;
