//! Directories in a call.

use super::given::{given, reach};
use super::kind::{GrantKind, GrantingCall};
use super::narrow::{shown, wanted};
use super::reach::Reach;
use crate::approvals::WritableDirectory;
use crate::call::rejection::Rejection;
use crate::catalog::{Plugin, Tool};
use crate::grants::{BoundDirectory, Grant};
use crate::reply::Code;
use crate::text::WithCauses;
use crate::valid_call::ValidCall;
use portcullis_policy::{Access, Binding, DependencyKey, Permission, Permissions, Pointer};
use portcullis_sandbox::{Directory, Handles};
use std::collections::BTreeMap;
use std::sync::Arc;

impl GrantKind for BoundDirectory {
    fn declare(&self, key: &DependencyKey, call: &GrantingCall<'_>, handles: &mut Handles) -> Result<(), Rejection> {
        let directory = narrowed(self, key, &call.approved.call)?;
        handles.directory_key(Arc::from(key.as_str()), Some(directory));
        Ok(())
    }

    fn reach(&self, tool: &Tool) -> Reach {
        Reach { writes: permitted(self, tool).access() == Access::ReadWrite, leaves: false }
    }

    fn check(&self, key: &DependencyKey, call: &ValidCall) -> Result<(), Rejection> {
        narrowed(self, key, call).map(drop)
    }

    fn describe(&self, binding: &Binding, tool: &Tool) -> String {
        let Binding::Directory(binding) = binding else { return binding.describe() };
        let access = permitted(self, tool).access().to_string();
        let parts = [written_and_resolved(&binding.path, &self.place), access].into_iter();
        parts.chain(binding.describe_masks()).collect::<Vec<_>>().join(", ")
    }

    fn describe_narrowing(&self, pointer: &Pointer) -> String {
        format!(", narrowed to what {pointer} names")
    }

    fn describe_bound(&self, binding: Option<&Binding>, tool: &Tool) -> Option<String> {
        let narrow = self.narrow.as_ref().map(|pointer| format!(", of it what {pointer} names")).unwrap_or_default();
        let access = permitted(self, tool).access();
        Some(format!("{}, {access}{narrow}{}", self.place, binding.map(masks).unwrap_or_default()))
    }
}

/// Returns the directory that a call gets: the one that the policy binds, limited to the tool's permissions and to what
/// the arguments name.
fn narrowed(bound: &BoundDirectory, key: &DependencyKey, call: &ValidCall) -> Result<Directory, Rejection> {
    let directory = permitted(bound, &call.tool);
    match wanted(bound.narrow.as_ref(), key, call)? {
        None => Ok(directory),
        Some(path) => directory.narrowed(path).map_err(|error| {
            let error = WithCauses(&error);
            let message = format!("The path {} cannot be granted from `{key}`: {error}.", shown(path));
            Rejection::new(Code::DependencyNotGranted, message)
        }),
    }
}

/// Returns the bound directory, limited to the tool's permissions.
pub(super) fn permitted(bound: &BoundDirectory, tool: &Tool) -> Directory {
    let writes = tool.permissions().contains(Permission::Write);
    if writes { bound.directory.clone() } else { bound.directory.read_only() }
}

/// Describes a path: as the policy spells it, and the place that it leads to.
pub(super) fn written_and_resolved(written: &str, place: &str) -> String {
    if written == place { written.to_owned() } else { format!("{written} ({place})") }
}

/// Describes the masks that the policy sets and lifts. They are part of what an approval is bound to.
fn masks(binding: &Binding) -> String {
    let Binding::Directory(binding) = binding else { return String::new() };
    binding.describe_masks().iter().map(|part| format!(", {part}")).collect()
}

/// Returns the directories of a call as read-only directories, narrowed like those of the call.
pub(super) fn directories_to_read(
    call: &ValidCall,
) -> impl Iterator<Item = Result<(&DependencyKey, Directory), Rejection>> {
    granted(call).map(|(key, bound)| Ok((key, narrowed(bound, key, call)?.read_only())))
}

/// Returns the directories that the call can write to, by key.
pub(in crate::call) fn writable_directories(
    call: &ValidCall,
) -> Result<BTreeMap<String, WritableDirectory>, Rejection> {
    let mut writable = BTreeMap::new();
    for (key, bound) in granted(call) {
        let directory = narrowed(bound, key, call)?;
        if directory.access() == Access::ReadWrite {
            writable.insert(key.to_string(), WritableDirectory { directory, place: bound.place.clone() });
        }
    }
    Ok(writable)
}

/// Returns the directories that the policy binds and that the tool's permissions reach.
fn granted(call: &ValidCall) -> impl Iterator<Item = (&DependencyKey, &BoundDirectory)> {
    call.plugin.dependencies.iter().filter_map(|(key, asked)| {
        let Grant::Directory(bound) = given(&call.plugin, &call.tool, key, asked.kind)? else { return None };
        Some((key, bound))
    })
}

/// Refuses a write that no handle of the tool allows, because its directories are granted read-only.
pub(in crate::call) fn check_writable(plugin: &Plugin, tool: &Tool, needed: Permissions) -> Result<(), Rejection> {
    match read_only_key(plugin, tool).filter(|_| needed.contains(Permission::Write)) {
        Some(key) => Err(read_only(plugin, tool, key)),
        None => Ok(()),
    }
}

/// Returns the key of a read-only directory, if the tool has one and nothing that it could write to.
pub(crate) fn read_only_key<'a>(plugin: &'a Plugin, tool: &Tool) -> Option<&'a DependencyKey> {
    if reach(plugin, tool).writes {
        return None;
    }
    let mut asked = plugin.dependencies.iter();
    let found = asked.find(|(key, asked)| matches!(given(plugin, tool, key, asked.kind), Some(Grant::Directory(_))));
    found.map(|(key, _)| key)
}

fn read_only(plugin: &Plugin, tool: &Tool, key: &DependencyKey) -> Rejection {
    let message = format!(
        "{} cannot write: the policy grants the directory `{key}` read-only, and no approval changes that. Ask the \
         user to change the policy.",
        tool.name()
    );
    let name = &plugin.name;
    let remedy =
        format!("to grant it, set in the policy: [plugin.{name}] directory.{key} = {{ ..., access = \"read-write\" }}");
    Rejection::new(Code::DependencyNotGranted, message).with_detail(remedy)
}
