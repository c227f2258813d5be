//! The tools of the files plugin, called as a host calls them, on a directory of their own.

mod edit;
mod folder;
mod glob;
mod grep;
mod list;
mod paths;
mod plugin;
mod preview;
mod read;
mod write;
