//! The tables `directory.KEY`.

use super::{Misplaced, Node, part, read_narrow};
use crate::binding::{self, Access, DirectoryBinding};

pub(super) fn read(node: &Node<'_>) -> Result<DirectoryBinding, Misplaced> {
    let directory = node.table(&["path", "access", "narrow"])?;
    Ok(DirectoryBinding {
        path: part(directory.require("path")?, binding::read_path)?,
        access: directory.get("access").map(|node| part(node, Access::read)).transpose()?.unwrap_or_default(),
        narrow: directory.get("narrow").map(read_narrow).transpose()?,
    })
}
