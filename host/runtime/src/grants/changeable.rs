//! Whether a granted directory would let a plugin change a place of the host's own: a plugin directory, or a policy.
//!
//! The place is safe if the grant is read-only, or if the grant's masks hide it or protect it. Masks go by names, so no
//! name on the way to the place may be one that the plugin could give to something else.

use crate::places::{OwnPlace, PolicyFile, resolve};
use portcullis_policy::Access;
use portcullis_sandbox::Directory;
use std::io;
use std::path::{Component, Path};

/// A place of the host's own that a plugin could change.
pub(super) struct Changeable {
    pub(super) what: &'static str,
    /// The mask that would protect it, if a mask can.
    pub(super) mask: Option<String>,
}

/// Returns the place if a plugin with this directory could change it, or create it. `at` is the resolved path of the
/// directory.
pub(super) fn changeable(directory: &Directory, at: &Path, own: &OwnPlace) -> io::Result<Option<Changeable>> {
    if directory.access() == Access::ReadOnly {
        return Ok(None);
    }
    let place = resolve(&own.path)?;
    let inside = place.strip_prefix(at).ok().map(Path::to_owned);
    let overlaps = match &own.directory {
        Some(open) => directory.overlaps(&**open)?,
        // It does not exist, so only its name can be compared.
        None => inside.is_some() || at.starts_with(&place),
    };
    if !overlaps || inside.as_deref().is_some_and(|inside| is_protected(directory, inside)) {
        return Ok(None);
    }
    let mask = inside.and_then(|inside| mask(&inside)).map(|inside| format!("{inside}/**"));
    Ok(Some(Changeable { what: own.what, mask }))
}

/// Returns the policy if a plugin with this directory could change it.
pub(super) fn changeable_policy(
    directory: &Directory,
    at: &Path,
    policy: &PolicyFile,
) -> io::Result<Option<Changeable>> {
    if directory.access() == Access::ReadOnly {
        return Ok(None);
    }
    let what = "the policy";
    let named = resolve(&policy.directory)?.join(policy.path.file_name().unwrap_or_default());
    // A link to the policy is a second name for it, and both matter.
    for place in [resolve(&named)?, named] {
        match place.strip_prefix(at) {
            Ok(inside) if !is_protected(directory, inside) => {
                let mask = mask(inside).map(|inside| format!("/{inside}"));
                return Ok(Some(Changeable { what, mask }));
            }
            Ok(_) | Err(_) => {}
        }
    }
    // Under another name, such as that of a mount, its masks are not known.
    let is_named = resolve(&policy.directory)?.starts_with(at);
    let covers = !is_named && directory.contains(&policy.handle)?;
    Ok(covers.then_some(Changeable { what, mask: None }))
}

/// Returns whether the masks of a directory keep a plugin from changing a place below it, and from putting something
/// else under its name.
fn is_protected(directory: &Directory, inside: &Path) -> bool {
    let (Some(masks), Some(names)) = (directory.masks(), names(inside)) else { return false };
    let (mut trail, last) = (masks.start(), names.len().saturating_sub(1));
    for (number, name) in names.iter().enumerate() {
        trail = masks.step(&trail, name);
        if trail.is_hidden() || trail.is_read_only() {
            return true;
        }
        // If the masks do not tell this directory from others, the plugin can rename it, and put another in its place.
        if number < last && !masks.tell_apart(&trail) {
            return false;
        }
    }
    false
}

/// Returns a place as the pattern of a mask. None if the place is the directory itself, or if a name of it is not plain.
fn mask(inside: &Path) -> Option<String> {
    let names = names(inside)?;
    let is_plain =
        |name: &&str| !name.contains(['*', '?', '[', ']', '{', '}', '\\', '"']) && !name.contains(char::is_control);
    (!names.is_empty() && names.iter().all(is_plain)).then(|| names.join("/"))
}

fn names(inside: &Path) -> Option<Vec<&str>> {
    inside
        .components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str(),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}
