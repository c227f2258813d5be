//! A snapshot of everything in a directory that a guest could change.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The state of each path: type and mode, owner, links, size, times of modification and of change, and the content of a
/// file or the target of a link. The access time is left out, because reading changes it.
pub type Snapshot = BTreeMap<Vec<u8>, (u32, u32, u64, u64, (i64, i64), (i64, i64), Vec<u8>)>;

/// Takes a snapshot.
pub fn snapshot(root: &Path) -> Snapshot {
    let mut snapshot = Snapshot::new();
    visit(root, Path::new(""), &mut snapshot);
    snapshot
}

fn visit(root: &Path, path: &Path, snapshot: &mut Snapshot) {
    let full = root.join(path);
    let stat = fs::symlink_metadata(&full).unwrap();
    let content = match stat.file_type() {
        kind if kind.is_symlink() => fs::read_link(&full).unwrap().as_os_str().as_bytes().to_vec(),
        kind if kind.is_file() && stat.len() <= 1 << 20 => fs::read(&full).unwrap(),
        _ => Vec::new(),
    };
    let size = if stat.is_dir() { 0 } else { stat.len() };
    let times = ((stat.mtime(), stat.mtime_nsec()), (stat.ctime(), stat.ctime_nsec()));
    let entry = (stat.mode(), stat.uid(), stat.nlink(), size, times.0, times.1, content);
    snapshot.insert(path.as_os_str().as_bytes().to_vec(), entry);
    if stat.is_dir() {
        for entry in fs::read_dir(&full).unwrap() {
            visit(root, &path.join(entry.unwrap().file_name()), snapshot);
        }
    }
}
