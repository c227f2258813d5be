//! Computes what a tool can reach under the policy: the upper bound for all of its calls.

use super::given::given;
use super::narrow;
use crate::catalog::{Plugin, Tool};
use crate::grants::Grant;
use portcullis_policy::{Access, Permission};

/// The safe methods of HTTP, RFC 9110 section 9.2.1.
const SAFE_METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// What the handles of a tool's calls let it do, independent of what its author claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether it can change something: a directory, a store, something on the network, or through a service.
    pub writes: bool,
    /// Whether it can reach anything except this machine's files and the host's own stores.
    pub leaves: bool,
}

/// Returns what a tool of a plugin can reach.
pub(crate) fn reach(plugin: &Plugin, tool: &Tool) -> Reach {
    let granted = plugin.dependencies.iter().filter_map(|(key, asked)| given(plugin, tool, key, asked.kind));
    granted
        .map(|grant| of(grant, tool))
        .fold(Reach::default(), |all, one| Reach { writes: all.writes || one.writes, leaves: all.leaves || one.leaves })
}

/// Returns what a tool may do with its stores. A tool that declares `read` and not `write` only reads them, as it does
/// directories. A tool without either permission declares nothing about files, and its stores are its own.
pub(crate) fn store_access(tool: &Tool) -> Access {
    let permissions = tool.permissions();
    let only_reads = permissions.contains(Permission::Read) && !permissions.contains(Permission::Write);
    if only_reads { Access::ReadOnly } else { Access::ReadWrite }
}

fn of(grant: &Grant, tool: &Tool) -> Reach {
    match grant {
        Grant::Directory(bound) => {
            Reach { writes: narrow::permitted(bound, tool).access() == Access::ReadWrite, leaves: false }
        }
        Grant::Client(client) => {
            let looks = |method: &String| SAFE_METHODS.contains(&method.as_str());
            Reach { writes: !client.binding().methods.iter().all(looks), leaves: true }
        }
        Grant::Store(_) => Reach { writes: store_access(tool) == Access::ReadWrite, leaves: false },
        // A service is the application's own code, which nothing limits.
        Grant::Service(_) => Reach { writes: true, leaves: true },
    }
}
