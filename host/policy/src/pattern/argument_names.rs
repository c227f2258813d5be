//! Names of arguments that name a place.

/// Arguments that name what a call is about.
pub(crate) const RESOURCES: [&str; 9] =
    ["dir", "directory", "file", "file_path", "filename", "filepath", "folder", "path", "resource"];
/// Arguments that name a place in the network.
pub(super) const URLS: [&str; 6] = ["endpoint", "href", "link", "resource", "uri", "url"];
