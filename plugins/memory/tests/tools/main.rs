//! Calls the tools of the memory plugin as a host does, each on its own notebook.

mod notebook;
mod notes;
mod plugin;
