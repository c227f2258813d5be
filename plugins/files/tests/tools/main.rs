//! Calls the tools of the files plugin as a host does, each on its own directory.

mod edit;
mod folder;
mod glob;
mod grep;
mod list;
mod patch;
mod patch_failures;
mod paths;
mod plugin;
mod preview;
mod read;
mod write;
