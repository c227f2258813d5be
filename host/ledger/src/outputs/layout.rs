//! The names and the sizes of what outputs are kept in.

use cap_std::fs::Dir;
use portcullis_definitions::text::hex;
use std::collections::BTreeSet;
use std::io;

/// Size of a part of a shared output, in bytes. A reader fetches and checks a whole part, and a writer has one in
/// memory. Smaller parts would be more transactions for each output.
pub(super) const PART_BYTES: usize = 1024 * 1024;

/// Returns whether a text has the form of an output id, so that it is never a path.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns a new id of an output.
pub(super) fn new_id() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(hex(&bytes))
}

/// Returns the names in a directory that have the form of an output id.
pub(super) fn ids_in(directory: &Dir) -> io::Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for entry in directory.entries()? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if is_id(&name) {
            ids.insert(name);
        }
    }
    Ok(ids)
}
