//! The tables `directory.KEY`.

use super::super::faults::Misplaced;
use super::super::node::TomlNode;
use super::value::{is_empty_list, part, parts, read_narrow};
use crate::binding::{self, Access, BindingError, DefaultMask, DirectoryBinding};
use crate::mask::{MASKS_MAX, Mask};

pub(super) fn read(node: &TomlNode<'_>) -> Result<DirectoryBinding, Misplaced> {
    let directory = node.table(&["path", "access", "narrow", "hidden", "read-only", "writable"])?;
    // First, because `writable` is a fault without write access.
    let access = directory.read("access", |node| part(node, Access::read)).unwrap_or_default();
    let masks = |key: &str| directory.read(key, read_masks).unwrap_or_default();
    let path = directory.need("path", |node| part(node, binding::read_path));
    Ok(DirectoryBinding {
        access,
        narrow: directory.read("narrow", read_narrow),
        hidden: masks("hidden"),
        read_only: masks("read-only"),
        writable: directory.read("writable", |node| read_lifted(node, access)).unwrap_or_default(),
        // Without a path, the fault was noted and the policy is refused.
        path: path.unwrap_or_default(),
    })
}

fn read_masks(node: &TomlNode<'_>) -> Result<Vec<Mask>, Misplaced> {
    if is_empty_list(node) {
        return Ok(Vec::new());
    }
    let masks = parts(node, binding::read_mask)?;
    if masks.len() > MASKS_MAX { Err(node.fail(BindingError::Masks)) } else { Ok(masks) }
}

fn read_lifted(node: &TomlNode<'_>, access: Access) -> Result<Vec<DefaultMask>, Misplaced> {
    match access {
        Access::ReadOnly => Err(node.fail(BindingError::WritableReadOnly)),
        Access::ReadWrite => {
            Ok(node.each(&node.list()?, |element| element.word(&DefaultMask::ALL, DefaultMask::as_str)))
        }
    }
}
