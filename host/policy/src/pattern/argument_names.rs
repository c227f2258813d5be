//! Names of arguments that name a resource or a URL.

/// Names of arguments that name a resource.
pub(crate) const RESOURCES: [&str; 9] =
    ["dir", "directory", "file", "file_path", "filename", "filepath", "folder", "path", "resource"];
/// Names of arguments that name a URL.
pub(crate) const URLS: [&str; 6] = ["endpoint", "href", "link", "resource", "uri", "url"];
