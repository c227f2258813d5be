//! Installs clients of the MCP server that others wrote, through the package managers that carry them.
//!
//! What is installed is pinned down to the content of every package by the lock files in `xtask/clients`. An
//! installation is made once and kept in the cache under the digest of those files; from then on nothing is fetched.

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

/// Where the clients are.
pub(crate) struct Clients {
    node: Node,
    python: Python,
    browser: Browser,
}

/// Makes all clients present.
pub(crate) fn prepare(workspace: &Workspace) -> Result<Clients> {
    let locks = workspace.root.join("xtask/clients");
    Ok(Clients {
        node: Node::prepare(&locks.join("node"))?,
        python: Python::prepare(&locks.join("python"))?,
        browser: Browser::prepare()?,
    })
}

/// One line for each client, in the form of the variables that the tests read.
pub(crate) fn print(clients: &Clients) {
    for (name, path) in clients.variables() {
        println!("{name}={}", path.display());
    }
}

impl Clients {
    /// Tells tests where the clients are.
    pub(crate) fn provide(&self, command: &mut Command) {
        command.envs(self.variables());
    }

    fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        [self.node.variables(), self.python.variables(), self.browser.variables()].concat()
    }
}
