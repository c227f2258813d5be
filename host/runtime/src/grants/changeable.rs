//! Whether a granted directory would let a plugin change a place of the host's own: a plugin directory, or a policy.
//!
//! The place is safe if the grant is read-only, or if the grant's masks hide it or protect it. Masks go by names, so no
//! name on the way to the place may be one that the plugin could give to something else.

use crate::places::{OwnPlace, PolicyFile, resolve};
use portcullis_policy::Access;
use portcullis_sandbox::Directory;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A place of the host's own that a plugin could change.
pub(super) struct Changeable {
    pub(super) what: &'static str,
    /// The mask that would protect it, if a mask can.
    pub(super) mask: Option<String>,
}

/// Maximum links on the way to a place. Linux follows no more.
const LINKS_MAX: usize = 40;

/// Returns the place if a plugin with this directory could change it, create it, or put another in its place. `at` is
/// the resolved path of the directory.
pub(super) fn changeable(directory: &Directory, at: &Path, own: &OwnPlace) -> io::Result<Option<Changeable>> {
    if directory.access() == Access::ReadOnly {
        return Ok(None);
    }
    let OnTheWay { links, place } = OnTheWay::to(&own.path)?;
    let overlaps = match &own.directory {
        Some(open) => directory.overlaps(&**open)?,
        // It does not exist, so only its name can be compared.
        None => place.starts_with(at) || at.starts_with(&place),
    };
    let inside = place.strip_prefix(at).ok();
    // Masks go by names. If the place is in the grant under another name, as by a mount, none protects it.
    if overlaps && !inside.is_some_and(|inside| is_protected(directory, inside)) {
        let mask = inside.and_then(mask).map(|inside| format!("{inside}/**"));
        return Ok(Some(Changeable { what: own.what, mask }));
    }
    Ok(unprotected(directory, at, &links, own.what))
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
    let OnTheWay { mut links, place } = OnTheWay::to(&std::path::absolute(&policy.path)?)?;
    // The file counts like a link to it: a plugin that can replace it decides what the policy is.
    links.push(place);
    if let Some(found) = unprotected(directory, at, &links, what) {
        return Ok(Some(found));
    }
    // Under another name, such as that of a mount, its masks are not known.
    let is_named = resolve(&policy.directory)?.starts_with(at);
    let covers = !is_named && directory.contains(&policy.handle)?;
    Ok(covers.then_some(Changeable { what, mask: None }))
}

/// Returns the first of some resolved paths that is inside of a directory and not protected.
fn unprotected(directory: &Directory, at: &Path, places: &[PathBuf], what: &'static str) -> Option<Changeable> {
    let mut inside = places.iter().filter_map(|place| place.strip_prefix(at).ok());
    let inside = inside.find(|inside| !is_protected(directory, inside))?;
    Some(Changeable { what, mask: mask(inside).map(|inside| format!("/{inside}")) })
}

/// The resolved path of a place, and the links that lead to it. Who can replace one of the links decides what the place
/// is.
struct OnTheWay {
    /// The links, each by its own resolved path.
    links: Vec<PathBuf>,
    place: PathBuf,
}

impl OnTheWay {
    /// Follows an absolute path. Names that do not exist are kept.
    fn to(path: &Path) -> io::Result<Self> {
        let (mut links, mut place) = (Vec::new(), PathBuf::from("/"));
        let mut rest: Vec<PathBuf> = reversed(path);
        while let Some(name) = rest.pop() {
            match name.components().next() {
                Some(Component::RootDir | Component::Prefix(_)) => place = PathBuf::from("/"),
                // `place` contains no link at this point, so removing its last name is correct.
                Some(Component::ParentDir) => drop(place.pop()),
                Some(Component::CurDir) | None => {}
                Some(Component::Normal(_)) => {
                    let next = place.join(&name);
                    if next.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
                        rest.extend(reversed(&next.read_link()?));
                        links.push(next);
                    } else {
                        place = next;
                    }
                }
            }
            if links.len() > LINKS_MAX {
                return Err(io::Error::other(format!("{} has too many links", path.display())));
            }
        }
        Ok(Self { links, place })
    }
}

/// Returns the components of a path, the last one first.
fn reversed(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|component| PathBuf::from(component.as_os_str())).collect()
}

/// Returns whether the masks of a directory keep a plugin from changing a place below it, and from putting something
/// else under its name.
fn is_protected(directory: &Directory, inside: &Path) -> bool {
    // No mask can name a place that is not UTF-8, so such a place counts as unprotected.
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

/// Returns a place as the pattern of a mask. None if the place is the directory itself, or if a name of it is not
/// plain.
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the directories")]
mod tests {
    use super::*;
    use portcullis_policy::{Mask, Masks};
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A project with plugins, a policy, and a directory that is named like one on the way to the plugins.
    struct PlacesFixture(PathBuf);

    impl PlacesFixture {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("portcullis-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&root);
            fs::create_dir_all(root.join("project/tools/plugins")).unwrap();
            fs::create_dir_all(root.join("project/conf")).unwrap();
            for policy in ["portcullis.toml", "conf/portcullis.toml", "conf/other.toml"] {
                fs::write(root.join("project").join(policy), "").unwrap();
            }
            Self(root.canonicalize().unwrap())
        }

        fn grant(&self, path: &str, access: Access, masks: &[&str]) -> (Directory, PathBuf) {
            let place = self.0.join(path);
            let masks = masks.iter().map(|mask| Mask::new(mask).unwrap()).collect();
            (Directory::open(&place, access).unwrap().masked(Masks::new(Vec::new(), masks)), place)
        }

        /// Returns the mask that a grant lacks. `Some(None)` means that no mask helps.
        fn lacks(&self, grant: &(Directory, PathBuf), own: &str) -> Option<Option<String>> {
            let own = OwnPlace::if_exists("the plugin directory", &self.0.join(own)).unwrap();
            changeable(&grant.0, &grant.1, &own).unwrap().map(|found| found.mask)
        }

        fn lacks_for_policy(&self, grant: &(Directory, PathBuf), policy: &str) -> Option<Option<String>> {
            let policy = PolicyFile::read(&self.0.join(policy)).unwrap().unwrap();
            changeable_policy(&grant.0, &grant.1, &policy).unwrap().map(|found| found.mask)
        }
    }

    impl Drop for PlacesFixture {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_plugin_directory_is_safe_only_behind_a_mask_or_a_read_only_grant() {
        let fixture = PlacesFixture::new("changeable-plugins");
        let own = "project/tools/plugins";
        let needed = Some(Some("tools/plugins/**".to_owned()));
        for (masks, lacks) in [
            (&[][..], &needed),
            (&["tools/plugins/**"], &None),
            (&["/tools"], &None),
            (&["tools/**"], &None),
            (&["tools/plugins/*.wasm"], &needed),
            (&["other/**"], &needed),
            // `tools` has no mask of its own, so it could be renamed, and another directory put in its place.
            (&["plugins"], &needed),
            (&["**/plugins/**"], &needed),
        ] {
            assert_eq!(fixture.lacks(&fixture.grant("project", Access::ReadWrite, masks), own), *lacks, "{masks:?}");
        }
        assert_eq!(fixture.lacks(&fixture.grant("project", Access::ReadOnly, &[]), own), None);
        assert_eq!(fixture.lacks(&fixture.grant("project/conf", Access::ReadWrite, &[]), own), None);
        // The directory itself, or one in it.
        assert_eq!(fixture.lacks(&fixture.grant(own, Access::ReadWrite, &["x"]), own), Some(None));
        assert_eq!(fixture.lacks(&fixture.grant(own, Access::ReadWrite, &[]), "project/tools"), Some(None));
    }

    #[test]
    fn a_plugin_directory_that_does_not_exist_cannot_be_created() {
        let fixture = PlacesFixture::new("changeable-missing");
        let needed = Some(Some("plugins/**".to_owned()));
        for (masks, lacks) in [(&[][..], &needed), (&["plugins/**"], &None), (&["/plugins"], &None)] {
            let grant = fixture.grant("project", Access::ReadWrite, masks);
            assert_eq!(fixture.lacks(&grant, "project/plugins"), *lacks, "{masks:?}");
        }
        let below = fixture.grant("project/conf", Access::ReadWrite, &[]);
        assert_eq!(fixture.lacks(&below, "project/plugins"), None);
    }

    /// The plugins are outside of the grant, or protected in it, and a link in the grant decides where they are.
    #[test]
    fn a_link_on_the_way_to_a_plugin_directory_must_be_safe_too() {
        let fixture = PlacesFixture::new("changeable-links");
        fs::create_dir(fixture.0.join("outside")).unwrap();
        symlink("../outside", fixture.0.join("project/out")).unwrap();
        symlink("tools", fixture.0.join("project/in")).unwrap();
        symlink("project/in", fixture.0.join("far")).unwrap();
        for (own, masks, lacks) in [
            ("project/out", &[][..], Some(Some("/out".to_owned()))),
            ("project/out", &["/out"], None),
            ("project/in/plugins", &["tools/plugins/**"], Some(Some("/in".to_owned()))),
            ("project/in/plugins", &["tools/plugins/**", "/in"], None),
            ("far/plugins", &["tools/plugins/**"], Some(Some("/in".to_owned()))),
        ] {
            let grant = fixture.grant("project", Access::ReadWrite, masks);
            assert_eq!(fixture.lacks(&grant, own), lacks, "{own} {masks:?}");
        }
    }

    #[test]
    fn a_policy_is_safe_only_behind_a_mask_or_a_read_only_grant() {
        let fixture = PlacesFixture::new("changeable-policy");
        let default = &["**/portcullis.toml"][..];
        let lacks = |masks: &[&str], access, policy: &str| {
            fixture.lacks_for_policy(&fixture.grant("project", access, masks), policy)
        };
        assert_eq!(lacks(default, Access::ReadWrite, "project/portcullis.toml"), None);
        assert_eq!(lacks(&[], Access::ReadWrite, "project/portcullis.toml"), Some(Some("/portcullis.toml".to_owned())));
        assert_eq!(lacks(&[], Access::ReadOnly, "project/portcullis.toml"), None);
        // The default does not keep `conf` from being renamed.
        let deep = Some(Some("/conf/portcullis.toml".to_owned()));
        assert_eq!(lacks(default, Access::ReadWrite, "project/conf/portcullis.toml"), deep);
        assert_eq!(lacks(&["/conf/portcullis.toml"], Access::ReadWrite, "project/conf/portcullis.toml"), None);
        // A link outside leads to a policy inside.
        let link = fixture.0.join("link.toml");
        symlink("project/conf/other.toml", &link).unwrap();
        assert_eq!(lacks(default, Access::ReadWrite, "link.toml"), Some(Some("/conf/other.toml".to_owned())));
        let beside = fixture.grant("project/tools", Access::ReadWrite, &[]);
        assert_eq!(fixture.lacks_for_policy(&beside, "project/portcullis.toml"), None);
    }
}
