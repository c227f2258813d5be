//! Installs what others wrote through its package managers: clients of the MCP server, MCP servers, and an
//! S3-compatible store.
//!
//! The lock files in `xtask/clients` pin the content of every package. An installation is made once and cached under
//! the digest of those files. After that, nothing is fetched.

mod browser;
mod node;
mod python;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use browser::Browser;
use node::Node;
use portcullis_build::workspace::Workspace;
use python::Python;

/// The installed clients.
pub(crate) struct Clients {
    node: Node,
    python: Python,
    browser: Browser,
}

/// Installs all clients that are not in the cache.
pub(crate) fn prepare(workspace: &Workspace) -> Result<Clients> {
    let locks = workspace.root.join("xtask/clients");
    Ok(Clients {
        node: Node::prepare(&locks.join("node"), &locks.join("servers"), &locks.join("stores"))?,
        python: Python::prepare(&locks.join("python"))?,
        browser: Browser::prepare()?,
    })
}

/// Prints one `NAME=path` line per variable that the tests read.
pub(crate) fn print(clients: &Clients) {
    for (name, path) in clients.variables() {
        println!("{name}={}", path.display());
    }
}

impl Clients {
    /// Sets the variables that tell tests where the clients are.
    pub(crate) fn provide(&self, command: &mut Command) {
        command.envs(self.variables());
    }

    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        [self.node.variables(), self.python.variables(), self.browser.variables()].concat()
    }
}
