//! The tables `directory.KEY`.

use super::super::node::{Misplaced, TomlNode};
use super::value::{is_empty_list, part, parts, read_narrow};
use crate::binding::{self, Access, BindingError, DefaultMask, DirectoryBinding};
use crate::mask::{MASKS_MAX, Mask};

pub(super) fn read(node: &TomlNode<'_>) -> Result<DirectoryBinding, Misplaced> {
    let directory = node.table(&["path", "access", "narrow", "hidden", "read-only", "writable"])?;
    let access = directory.get("access").map(|node| part(node, Access::read)).transpose()?.unwrap_or_default();
    let masks = |key: &str| directory.get(key).map_or(Ok(Vec::new()), read_masks);
    Ok(DirectoryBinding {
        path: part(directory.require("path")?, binding::read_path)?,
        access,
        narrow: directory.get("narrow").map(read_narrow).transpose()?,
        hidden: masks("hidden")?,
        read_only: masks("read-only")?,
        writable: directory.get("writable").map_or(Ok(Vec::new()), |node| read_lifted(node, access))?,
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
            node.list()?.iter().map(|node| node.word(&DefaultMask::ALL, DefaultMask::as_str)).collect()
        }
    }
}
