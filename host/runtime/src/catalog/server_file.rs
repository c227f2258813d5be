//! What a server of the policy is called in the lists of files.

use portcullis_policy::PluginName;

/// The beginning of such a name: `server.github`, like its section in the policy. No plugin file begins like this.
const SERVER_PREFIX: &str = "server.";

/// Returns what a server is called in the place of a file.
pub(crate) fn server_file(name: &PluginName) -> String {
    format!("{SERVER_PREFIX}{name}")
}

/// Returns the server that an entry in the place of a file is about.
pub(crate) fn server_of(file: &str) -> Option<&str> {
    file.strip_prefix(SERVER_PREFIX)
}
